extension MigrationPlan: CustomStringConvertible {
  /// The plan as text: the steps of each hop, one line per step, then losses, blockers and notes.
  public var description: String {
    var lines = ["\(from) → \(to): \(way.sentence)"]
    if let rows, let bytes {
      let (extra, size) = (Measure.bytes(extraBytes ?? 0), Measure.bytes(bytes))
      lines.append("  \(Measure.count(rows, "row")), \(size); up to \(extra) more of disk space while it runs")
    }
    if hops.count > 1 {
      for (number, hop) in hops.enumerated() {
        lines.append("  hop \(number + 1) of \(hops.count), \(hop.from) → \(hop.to):")
        lines += hop.stepLines.map { "  \($0)" }
      }
    } else {
      lines += stepLines
    }
    if !parked.isEmpty { lines.append("parked, until a migration to a version that has a place for it:") }
    lines += shownParked.map { "  \($0)" }
    if !restored.isEmpty { lines.append("restored:") }
    lines += restored.map { "  \($0)" }
    if !lost.isEmpty { lines.append("lost:") }
    lines += lost.map { "  \($0)" }
    if !unreadable.isEmpty { lines.append("stored, but unreadable for the types of the new version:") }
    lines += unreadable.map { "  \($0)" }
    if !blockers.isEmpty { lines.append("in the way:") }
    lines += blockerLines
    if !notes.isEmpty { lines.append("note:") }
    lines += notes.map { "  \($0)" }
    return lines.joined(separator: "\n")
  }

  /// The parked values, by their reason if it would be lost otherwise.
  package var shownParked: [MigrationLoss] { parked.isEmpty || losses.isEmpty || parksByHop ? parked : losses }

  /// The losses, unless they are parked.
  package var lost: [MigrationLoss] {
    if parked.isEmpty { return losses }
    return parksByHop ? losses.filter { !parked.contains($0) } : []
  }

  /// Whether the parked values are losses of some hops, since hops with mapping models park none. A migration in place
  /// parks all losses, and counts the values themselves.
  private var parksByHop: Bool { parked.allSatisfy(losses.contains) }

  private var stepLines: [String] {
    steps.flatMap { step in
      let statements = step.sql.map { Self.shown($0) } + step.deferred.map { "later: " + Self.shown($0) }
      return ["  \(step.operation)"] + statements.map { "      " + $0 }
    }
  }

  /// A statement, in which defaults can be texts and data of any length and content.
  private static func shown(_ sql: String) -> String { ValueWords.line(sql, shown: 10_000) }

  /// The blockers; a fix that several of them share is printed once, after the last of them.
  private var blockerLines: [String] {
    blockers.enumerated().map { index, blocker in
      let isRepeated = blockers[(index + 1)...].contains { $0.fix == blocker.fix }
      return "  " + (isRepeated ? blocker.what : blocker.description)
    }
  }
}

extension MigrationWay {
  fileprivate var sentence: String {
    switch self {
    case .none: "nothing to do"
    case .inPlace: "in place, in one transaction"
    case .copy: "into a new file"
    case .impossible: "not possible"
    }
  }
}

extension MigrationOperation: CustomStringConvertible {
  public var description: String {
    let place = property.map { "\(entity).\($0)" } ?? entity
    let name = newName.map { "\(place) → \($0)" } ?? place
    let words = kind.rawValue.reduce(into: "") { text, letter in
      text += letter.isUppercase ? " \(letter.lowercased())" : String(letter)
    }
    let extras = [detail, way == .none ? "nothing to store" : nil, way == .impossible ? "not possible" : nil]
      .compactMap { $0 }
    return (name.isEmpty ? words : "\(words) \(name)") + (extras.isEmpty ? "" : " (\(extras.joined(separator: "; ")))")
  }
}

extension MigrationLoss: CustomStringConvertible {
  public var description: String {
    let place = property.map { "\(entity).\($0)" } ?? entity
    return "\(place): \(what)" + (rows.map { ", " + Measure.count($0, "row") } ?? "")
  }
}

extension MigrationBlocker: CustomStringConvertible {
  public var description: String {
    "\(what) \(fix)"
  }
}
