import Foundation

/// The instructions of one run, counted by `valgrind --tool=callgrind`: the same on every machine with the same program
/// and library, whatever else the machine does.
struct InstructionCount: Codable {
  /// All instructions, on all threads.
  var all: Int
  /// Those in the program itself, without its libraries and without the benchmark's functions: Persist's code, wherever
  /// the compiler put it. Copies of generic functions of Swift's for Persist's types count too; otherwise a change of
  /// an unrelated file moved up to a tenth of a workload between both.
  var own: Int
  /// Those in Swift's standard library, which is where a process creates the types that it uses for the first time.
  var swift: Int
  /// Calls of functions that allocate memory.
  var allocations: Int

  private static let allocators: Set<String> = [
    "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign",
  ]

  /// The beginning of the names of the benchmark's functions: the number of the module's characters, and its name.
  private static let benchmark = "$s17PersistBenchmarks"

  /// Reads what callgrind wrote.
  ///
  /// - Parameters:
  ///   - text: The file's text.
  ///   - program: The name of the program's file.
  /// - SeeAlso: <https://valgrind.org/docs/manual/cl-format.html>
  init(callgrindOutput text: String, of program: String) {
    (all, own, swift, allocations) = (0, 0, 0, 0)
    /// Names are written once, and then only as numbers.
    var (functions, objects): ([Substring: Substring], [Substring: Substring]) = ([:], [:])
    func name(_ field: Substring, in names: inout [Substring: Substring]) -> Substring {
      guard field.first == "(", let end = field.firstIndex(of: ")") else { return field }
      let number = field[...end]
      let rest = field[field.index(after: end)...].drop { $0 == " " }
      if !rest.isEmpty { names[number] = rest }
      return names[number] ?? ""
    }
    var (isProgram, isOwn, isSwift, isCallCost) = (false, false, false, false)
    var callee: Substring = ""
    for line in text.split(separator: "\n") {
      if let field = line.afterPrefix("ob=") {
        let object = name(field, in: &objects)
        isProgram = object.hasSuffix("/\(program)")
        isSwift = object.contains("/libswiftCore.")
      } else if let field = line.afterPrefix("cob=") {
        _ = name(field, in: &objects)
      } else if let field = line.afterPrefix("fn=") {
        let function = name(field, in: &functions)
        isOwn = isProgram && !function.hasPrefix(Self.benchmark)
      } else if let field = line.afterPrefix("cfn=") {
        callee = name(field, in: &functions)
      } else if let field = line.afterPrefix("calls=") {
        isCallCost = true
        // Wrappers of valgrind's have the name of a function and more.
        let called = callee.split(separator: "'").first.map(String.init) ?? ""
        if Self.allocators.contains(called) { allocations += Int(field.prefix { $0 != " " }) ?? 0 }
      } else if let first = line.first, first.isNumber || "+-*".contains(first) {
        defer { isCallCost = false }
        let fields = line.split(separator: " ")
        guard !isCallCost, let cost = fields.dropFirst().first.flatMap({ Int($0) }) else { continue }
        all += cost
        if isOwn { own += cost }
        if isSwift { swift += cost }
      }
    }
  }

  static func - (whole: Self, part: Self) -> Self {
    var rest = whole
    rest.all -= part.all
    rest.own -= part.own
    rest.swift -= part.swift
    rest.allocations -= part.allocations
    return rest
  }
}

extension Substring {
  fileprivate func afterPrefix(_ prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}
