import Foundation

/// A section of `RESULTS.md` that a run of its own writes, and that the others keep.
enum PageSection: String, CaseIterable {
  case curves = "Growth of single operations"
  case instructions = "Instructions"
  /// Written by hand, from profiles of the same runs.
  case limits = "Limits"
  case latencies = "Latencies"
  case encrypted = "Encrypted stores"
  /// Written by `Scripts/measure-builds`.
  case builds = "Builds"

  private var heading: String { "\n## \(rawValue)\n" }

  /// The section with its heading; empty if the page has none.
  func text(in page: String) -> Substring { range(in: page).map { page[$0] } ?? "" }

  private func range(in page: String) -> Range<String.Index>? {
    guard let start = page.range(of: heading) else { return nil }
    let end = page.range(of: "\n## ", range: start.upperBound..<page.endIndex)?.lowerBound ?? page.endIndex
    return start.lowerBound..<end
  }

  /// Writes this section into a page, which is created if it doesn't exist.
  func write(_ content: String, to page: URL) throws {
    let previous = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
    try Data(replaced(in: previous, with: content).utf8).write(to: page)
  }

  /// The page with another content of this section, which comes before those that follow in the list of sections.
  func replaced(in page: String, with content: String) -> String {
    let section = heading + "\n" + content + "\n"
    if let range = range(in: page) { return page.replacingCharacters(in: range, with: section) }
    let later = Self.allCases.drop { $0 != self }.dropFirst().compactMap { $0.range(in: page)?.lowerBound }.min()
    let place = later ?? page.endIndex
    return page.replacingCharacters(in: place..<place, with: section)
  }
}
