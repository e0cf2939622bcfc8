import Foundation

/// The instructions of one run's measured work, counted by `valgrind --tool=callgrind`: the same on every machine with
/// the same program and library, whatever else the machine does.
struct InstructionCount: Codable {
  /// All instructions of the work.
  var all: Int
  /// Those in functions of Persist and the modules that it exports, without what they call.
  var own: Int
  /// Calls of functions that allocate memory.
  var allocations: Int

  private static let allocators: Set<String> = [
    "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign",
  ]

  /// The beginnings of the names of Persist's functions: the number of a module's characters, and its name.
  private static let ownNames = ["$s7Persist", "$s11PersistCore", "$s12PersistModel"]

  /// Reads what callgrind wrote.
  ///
  /// - SeeAlso: <https://valgrind.org/docs/manual/cl-format.html>
  init(callgrindOutput text: String) {
    (all, own, allocations) = (0, 0, 0)
    /// Names are written once, and then only as numbers.
    var names: [Substring: Substring] = [:]
    func name(_ field: Substring) -> Substring {
      guard field.first == "(", let end = field.firstIndex(of: ")") else { return field }
      let number = field[...end]
      let rest = field[field.index(after: end)...].drop { $0 == " " }
      if !rest.isEmpty { names[number] = rest }
      return names[number] ?? ""
    }
    var (isOwn, callee, isCallCost): (Bool, Substring, Bool) = (false, "", false)
    for line in text.split(separator: "\n") {
      if let field = line.afterPrefix("fn=") {
        let function = name(field)
        isOwn = Self.ownNames.contains { function.hasPrefix($0) }
      } else if let field = line.afterPrefix("cfn=") {
        callee = name(field)
      } else if let field = line.afterPrefix("calls=") {
        isCallCost = true
        // Wrappers of valgrind's have the name of a function and more.
        let called = callee.split(separator: "'").first.map(String.init) ?? ""
        if Self.allocators.contains(called) { allocations += Int(field.prefix { $0 != " " }) ?? 0 }
      } else if let first = line.first, first.isNumber || "+-*".contains(first) {
        defer { isCallCost = false }
        guard !isCallCost, let cost = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { continue }
        all += cost
        if isOwn { own += cost }
      }
    }
  }
}

extension Substring {
  fileprivate func afterPrefix(_ prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}
