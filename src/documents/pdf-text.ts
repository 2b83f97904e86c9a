import type { PdfFault, PdfLimits, PdfText } from './pdf.ts';

/**
 * Reads the text of a PDF, page by page, in this thread.
 * @param isStopped  called between pages; true ends the reading
 */
export async function readPdf(
  bytes: Uint8Array,
  limits: PdfLimits,
  isStopped: () => boolean = () => false,
): Promise<PdfText | PdfFault> {
  // Loaded late: it takes some 70 ms, and most processes never read a PDF.
  const { getDocumentProxy } = await import('unpdf');
  try {
    // 0: only errors, not warnings, which would go to the console.
    const document = await getDocumentProxy(bytes, { verbosity: 0, stopAtErrors: false });
    const pages: string[] = [];
    let left = limits.chars;
    const total = document.numPages;
    for (let number = 1; number <= Math.min(total, limits.pages) && left > 0 && !isStopped(); number++) {
      const text = textOf((await (await document.getPage(number)).getTextContent()).items);
      pages.push(text.slice(0, left));
      left -= text.length;
    }
    const isCut = pages.length < total || left < 0;
    await document.loadingTask.destroy();
    return { pages, total, isCut };
  } catch {
    // The error is dropped, because the error of the parser may quote the file.
    return 'unreadable';
  }
}

function textOf(items: readonly object[]): string {
  let text = '';
  for (const item of items) {
    const { str, hasEOL } = item as { str?: string; hasEOL?: boolean };
    text += (str ?? '') + (hasEOL === true ? '\n' : '');
  }
  return text.trim();
}
