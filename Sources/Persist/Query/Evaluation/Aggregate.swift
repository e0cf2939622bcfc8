/// The computations of functions and operators over several values.
enum Aggregate {
  /// The sum of the non-null values; 0 if there are none.
  static func sum(_ values: [FetchValue]) throws -> FetchValue {
    .value(try total(numbers(values))?.value ?? .null)
  }

  /// The mean of the non-null values; null if there are none. A decimal for decimals, otherwise a double.
  static func average(_ values: [FetchValue]) throws -> FetchValue {
    let numbers = try numbers(values)
    guard !numbers.isEmpty, let total = total(numbers) else { return .null }
    if case .integer = total { return .value(.double(total.double / Double(numbers.count))) }
    return .value(Number.divide(total, .integer(Int64(numbers.count)))?.value ?? .null)
  }

  /// The least or greatest of the non-null values: numbers, texts or dates.
  @inline(never)
  static func extreme(_ values: [FetchValue], _ wanted: ValueOrder) -> FetchValue {
    var best: StoredValue?
    for case .value(let value) in present(values) {
      if let current = best, value.order(to: current) != wanted { continue }
      best = value
    }
    return .value(best ?? .null)
  }

  static func median(_ values: [FetchValue]) throws -> FetchValue {
    let sorted = try numbers(values).sorted { $0.order(to: $1) == .less }
    guard !sorted.isEmpty else { return .null }
    let middle = sorted.count / 2
    if !sorted.count.isMultiple(of: 2) { return .value(sorted[middle].value) }
    return try average([.value(sorted[middle - 1].value), .value(sorted[middle].value)])
  }

  /// The most frequent values, in order of first occurrence.
  static func mode(_ values: [FetchValue]) -> FetchValue {
    let members = present(values)
    let counts = Dictionary(members.compactMap { $0.key.map { ($0, 1) } }, uniquingKeysWith: +)
    guard let most = counts.values.max() else { return .collection([]) }
    return .collection(distinct(members).filter { $0.key.map { counts[$0] == most } ?? false })
  }

  /// The population standard deviation; null if there are no values.
  static func standardDeviation(_ values: [FetchValue]) throws -> FetchValue {
    let numbers = try numbers(values).map(\.double)
    guard !numbers.isEmpty else { return .null }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let variance = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)
    return .value(.double(variance.squareRoot()))
  }

  /// The distinct members, in order of first occurrence.
  static func distinct(_ members: [FetchValue]) -> [FetchValue] {
    var seen: Set<ValueKey> = []
    return members.filter { member in member.key.map { seen.insert($0).inserted } ?? true }
  }

  /// The non-null values, including those of collections.
  private static func present(_ values: [FetchValue]) -> [FetchValue] {
    values.flatMap(\.members).flatMap(\.members)
  }

  private static func total(_ numbers: [Number]) -> Number? {
    var total: Number? = .integer(0)
    for number in numbers { total = total.flatMap { Number.add($0, number) } }
    return total
  }

  private static func numbers(_ values: [FetchValue]) throws -> [Number] {
    try present(values).map { member in
      guard let number = member.stored.flatMap(Number.init) else {
        throw PersistenceError(.typeMismatch, "Only numbers can be summed; this is \(member.kind).")
      }
      return number
    }
  }
}
