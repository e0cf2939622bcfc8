/// One operation, and its cost as one measure of its store grows.
///
/// The cost is a number of instructions, so that a line that bends is seen on a busy machine too. Plain SQLite does the
/// same operation: what grows in its file, such as the depth of an index, isn't Persist's.
struct GrowthCurve: Sendable {
  /// The measure that grows.
  enum Axis: String, CaseIterable, Sendable {
    case rows, entities, members, attributes, megabytes

    var summary: String {
      switch self {
      case .rows: "rows of a table"
      case .entities: "entities of a model"
      case .members: "members of one object"
      case .attributes: "attributes of an entity"
      case .megabytes: "megabytes of a file"
      }
    }

    var sizes: [Int] {
      switch self {
      case .rows: [10_000, 100_000, 1_000_000, 10_000_000]
      case .entities: [10, 100, 1_000]
      case .members: [10, 100, 1_000, 10_000]
      case .attributes: [10, 30, 100, 300]
      case .megabytes: [20, 200, 2_000, 20_000]
      }
    }

    /// The size of the largest file, in bytes, with the copy that a run works on.
    func space(_ size: Int) -> Int {
      switch self {
      case .rows: size * 600
      case .megabytes: size << 20
      case .entities, .members, .attributes: size << 14
      }
    }
  }

  let axis: Axis
  let name: String
  let summary: String
  let start: StartingStore
  /// The number of operations of a run.
  var repetitions = 20
  /// Whether the operation visits all that grows, so that its cost is that of one of them.
  var isPerUnit = false
  let persist: Workload.Part
  let sqlite: Workload.Part

  static let all = ofRows + ofEntities + ofMembers + ofAttributes + ofMegabytes

  /// The work that a child process does; its number of rows is the size.
  var workload: Workload {
    Workload(
      name: "\(axis.rawValue).\(name)", summary: summary, target: Growth.allowance, start: start,
      parts: [.persist: persist, .sqlite: sqlite])
  }

  /// The instructions of one operation, or of one unit of it.
  func cost(_ count: InstructionCount, size: Int) -> Double {
    Double(count.all) / Double(repetitions * (isPerUnit ? size : 1))
  }
}

extension GrowthCurve {
  /// The costs that were measured, from the smallest size to the largest.
  struct Line {
    let curve: GrowthCurve
    var sizes: [Int] = []
    var persist: [Double] = []
    var sqlite: [Double] = []

    /// The growth of the cost, relative to that of plain SQLite's.
    var excess: Double {
      guard let (first, last) = persist.ends, let (plainFirst, plainLast) = sqlite.ends else { return 1 }
      return (last / first) / (plainLast / plainFirst)
    }

    var bends: Bool { excess > Growth.allowance }
  }

  /// Counts the operation at each size.
  ///
  /// - Parameter sizes: The sizes for which there is space.
  func measure(_ sizes: [Int], by runner: Runner) throws -> Line {
    var line = Line(curve: self)
    for size in sizes {
      let (persist, ours) = try runner.count(workload, .persist, rows: size)
      let (plain, theirs) = try runner.count(workload, .sqlite, rows: size)
      guard persist.readChecksum == plain.readChecksum else {
        throw BenchmarkError("\(workload.name): Persist read \(persist.readChecksum), SQLite \(plain.readChecksum).")
      }
      line.sizes.append(size)
      line.persist.append(cost(ours, size: size))
      line.sqlite.append(cost(theirs, size: size))
    }
    return line
  }
}

extension [Double] {
  fileprivate var ends: (first: Double, last: Double)? { first.flatMap { first in last.map { (first, $0) } } }
}
