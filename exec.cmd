@rem npm runs the scripts of package.json with cmd.exe on Windows, which knows no exec: "start" has one.
@%*
