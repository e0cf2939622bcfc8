import Foundation
import Logging

extension MigrationReport {
  /// Records what a hop parked.
  mutating func add(parked contents: [MigrationLoss], _ comparison: ModelComparison) {
    parkedContents += contents
    parked += contents.reduce(0) { $0 + ($1.rows ?? 0) }
    renameHints += RenameHint.all(for: contents, comparison)
  }

  /// Reports once what was parked.
  func logParkedValues(at url: URL) {
    guard !parkedContents.isEmpty else { return }
    Logger(label: "persist.migration").warning("\(parkingWarning(at: url))")
  }

  /// The parked values and objects, in words: "3 values of Item.colour, 1 object of Tag".
  package var parkedWords: String {
    parkedContents.map { content in
      let what = content.what.hasSuffix("s") ? String(content.what.dropLast()) : content.what
      let place = content.property.map { "\(content.entity).\($0)" } ?? content.entity
      return "\(Measure.count(content.rows ?? 0, what)) of \(place)"
    }.joined(separator: ", ")
  }

  /// The warning about what was parked.
  func parkingWarning(at url: URL) -> String {
    let subject = ModelVersion.quoted(to)
    let advice = renameHints.map { " \($0.advice)" }.joined()
    return """
      \(subject.prefix(1).uppercased())\(subject.dropFirst()) has no place for \(parkedWords). \
      The migration from \(ModelVersion.quoted(from)) parked them in '\(url.lastPathComponent)': they come back with a \
      model that has a place for them, and 'persist parked' lists and purges them.\(advice)
      """
  }
}
