import Foundation
import Logging

extension MigrationReport {
  /// Records what was parked.
  mutating func add(parked contents: [MigrationLoss], _ comparison: ModelComparison) {
    parkedContents = contents
    parked = contents.reduce(0) { $0 + ($1.rows ?? 0) }
    renameHints = RenameHint.all(for: contents, comparison)
  }

  /// Reports once what was parked.
  func logParkedValues(at url: URL) {
    guard !parkedContents.isEmpty else { return }
    let contents = parkedContents.map { content in
      let what = content.what.hasSuffix("s") ? String(content.what.dropLast()) : content.what
      let place = content.property.map { "\(content.entity).\($0)" } ?? content.entity
      return "\(Measure.count(content.rows ?? 0, what)) of \(place)"
    }
    let advice = renameHints.map { " \($0.advice)" }.joined()
    Logger(label: "persist.migration").warning(
      """
      '\(to)' has no place for \(contents.joined(separator: ", ")). The migration from '\(from)' parked them in \
      '\(url.lastPathComponent)'; they return with a place, and 'persist parked' lists and purges them.\(advice)
      """)
  }
}
