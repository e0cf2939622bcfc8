extension MigrationPlan: CustomStringConvertible {
  /// The plan in words, one line per step, with losses and what stands in the way at the end.
  public var description: String {
    var lines = ["\(from) → \(to): \(way.sentence)"]
    if let rows, let bytes {
      lines.append("  \(rows) rows, \(bytes) bytes; up to \(extraBytes ?? 0) more bytes of disk while it runs")
    }
    if hops.count > 1 {
      lines.append("  through " + ([hops[0].from] + hops.map(\.to)).joined(separator: " → "))
    }
    for step in steps {
      lines.append("  \(step.operation)")
      lines += step.sql.map { "      \($0)" } + step.deferred.map { "      later: \($0)" }
    }
    if !losses.isEmpty { lines.append("lost:") }
    lines += losses.map { "  \($0)" }
    if !blockers.isEmpty { lines.append("in the way:") }
    lines += blockers.map { "  \($0)" }
    return lines.joined(separator: "\n")
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
    return "\(place): \(what)" + (rows.map { ", \($0) \($0 == 1 ? "row" : "rows")" } ?? "")
  }
}

extension MigrationBlocker: CustomStringConvertible {
  public var description: String {
    "\(what) \(fix)"
  }
}
