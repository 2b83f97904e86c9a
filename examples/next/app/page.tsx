export default function Page() {
  return <p>The page of the app</p>;
}
