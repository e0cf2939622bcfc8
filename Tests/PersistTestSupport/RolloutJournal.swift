public import Foundation

/// The record of a program of a rollout, which survives its end: each write before it is made, its outcome, and the
/// time that it took.
///
/// ```
/// B two/7 name|3|tea|hot,new       an entry that the program is about to save in this form
/// A 1764471600.25 12               saved, when it began, after so many milliseconds
/// B two/7 -                        deleting it
/// F                                nothing was saved
/// B +left                          adding one to a counter
///                                  killed: nobody knows
/// R 1764471600.31 2                a read
/// ```
public final class RolloutJournal {
  /// The beginning of an operation.
  public struct Moment: Sendable {
    fileprivate let date = Date()
    fileprivate let instant = ContinuousClock.now

    public init() {}
  }

  public enum Outcome: Sendable { case saved, failed, unknown }

  private let file: FileHandle

  public init(_ url: URL) throws {
    if !FileManager.default.fileExists(atPath: url.path) { try Data().write(to: url) }
    file = try FileHandle(forWritingTo: url)
    try file.seekToEnd()
  }

  private func write(_ line: String) throws { try file.write(contentsOf: Data("\(line)\n".utf8)) }

  /// - Parameter text: The form of an entry that is about to be saved; nil to delete it.
  public func begin(_ code: String, _ text: String?) throws { try write("B \(code) \(text ?? "-")") }
  public func beginCounting(_ counter: String) throws { try write("B +\(counter)") }

  public func end(_ outcome: Outcome, begun: Moment) throws {
    switch outcome {
    case .saved: try write("A \(Self.time(since: begun))")
    case .failed: try write("F")
    case .unknown: try write("U")
    }
  }

  public func noteRead(begun: Moment) throws { try write("R \(Self.time(since: begun))") }

  private static func time(since begun: Moment) -> String {
    "\(begun.date.timeIntervalSince1970) \((ContinuousClock.now - begun.instant) / .milliseconds(1))"
  }
}

/// What the journals of programs say about the store.
public struct RolloutRecord: Sendable {
  /// The possible forms of each entry, by its code: one, unless nobody knows the outcome of the last write. Nil is the
  /// absence of the entry.
  public private(set) var entries: [String: Set<String?>] = [:]
  /// The certain and the possible additions to each counter.
  public private(set) var counters: [String: (certain: Int, possible: Int)] = [:]
  public private(set) var saves = 0
  /// The beginning of each operation in seconds, and its length in milliseconds.
  public private(set) var writes: [(begun: Double, length: Double)] = []
  public private(set) var reads: [(begun: Double, length: Double)] = []

  public init() {}

  /// Adds the journal of a program, which alone writes its entries.
  public mutating func add(_ url: URL) throws {
    var pending: String?
    for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n") {
      let rest = String(line.dropFirst(2))
      switch line.first {
      case "B":
        if let pending { settle(pending, .unknown) }
        pending = rest
      case "A":
        if let pending { settle(pending, .saved) }
        pending = nil
        saves += 1
        writes.append(Self.time(rest))
      case "U", "F":
        if let pending { settle(pending, line.first == "U" ? .unknown : .failed) }
        pending = nil
      case "R": reads.append(Self.time(rest))
      default: break
      }
    }
    if let pending { settle(pending, .unknown) }
  }

  private static func time(_ text: String) -> (begun: Double, length: Double) {
    let parts = text.split(separator: " ").compactMap { Double($0) }
    return parts.count == 2 ? (parts[0], parts[1]) : (0, 0)
  }

  private mutating func settle(_ write: String, _ outcome: RolloutJournal.Outcome) {
    if write.hasPrefix("+") {
      let name = String(write.dropFirst())
      var counter = counters[name] ?? (0, 0)
      if outcome == .saved { counter.certain += 1 }
      if outcome != .failed { counter.possible += 1 }
      counters[name] = counter
      return
    }
    let parts = write.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return }
    let form = parts[1] == "-" ? nil : parts[1]
    switch outcome {
    case .saved: entries[parts[0]] = [form]
    case .unknown: entries[parts[0], default: [nil]].insert(form)
    case .failed: if entries[parts[0]] == nil { entries[parts[0]] = [nil] }
    }
  }

  /// The differences between the store and what was acknowledged.
  ///
  /// - Parameters:
  ///   - found: The forms of all entries by their codes, with doubled ones.
  ///   - sums: The counters.
  public func problems(_ found: [String: [String]], _ sums: [String: Int]) -> [String] {
    var problems: [String] = []
    for (code, forms) in found.sorted(by: { $0.key < $1.key }) {
      if forms.count > 1 { problems.append("\(code) is there \(forms.count) times") }
      if entries[code] == nil { problems.append("nobody has written \(code)") }
    }
    for (code, forms) in entries.sorted(by: { $0.key < $1.key }) where !forms.contains(found[code]?.first) {
      problems.append("\(code) is \(found[code]?.first ?? "missing"), not \(forms.map { $0 ?? "missing" }.sorted())")
    }
    for (name, counter) in counters.sorted(by: { $0.key < $1.key }) {
      let sum = sums[name] ?? 0
      if sum < counter.certain || sum > counter.possible {
        problems.append("\(name) is \(sum), not \(counter.certain) to \(counter.possible)")
      }
    }
    return problems
  }
}
