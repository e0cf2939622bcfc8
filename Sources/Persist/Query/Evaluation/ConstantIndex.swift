import Foundation

/// The values of a list indexed by comparison key: the same answers as comparing with each value, in constant time.
struct ConstantIndex {
  private let options: FetchPredicate.Options
  private var hasNull = false
  private var texts: Set<[UInt8]> = []
  private var numbers: Set<ValueKey> = []
  /// Numeric texts: they compare with numbers but not with dates.
  private var numericTexts: Set<ValueKey> = []
  private var uuids: Set<UUID> = []
  /// The UUIDs that texts represent: such a text equals the UUID, but not another text with a different spelling of it.
  private var uuidTexts: Set<UUID> = []
  private var others: Set<StoredValue> = []
  /// Values without a key: numbers that a decimal can't represent, texts of such numbers, and composite values.
  private var strays: [StoredValue] = []
  private let values: [StoredValue]

  init(_ values: [StoredValue], _ options: FetchPredicate.Options) {
    self.options = options
    self.values = values
    for value in values { insert(value) }
  }

  private mutating func insert(_ value: StoredValue) {
    switch value {
    case .null: hasNull = true
    case .string(let text):
      texts.insert(folded(text))
      if let uuid = UUID(uuidString: text) { uuidTexts.insert(uuid) }
      guard let number = Number(text: text) else { return }
      if let key = number.key { numericTexts.insert(key) } else { strays.append(value) }
    case .uri(let text): texts.insert(folded(text))
    case .uuid(let uuid): uuids.insert(uuid)
    case .objectID(let id): others.insert(.objectID(id.current))
    case .data: others.insert(value)
    case .composite: strays.append(value)
    case .integer, .boolean, .double, .decimal, .date:
      if let key = Number(value)?.key { numbers.insert(key) } else { strays.append(value) }
    }
  }

  func contains(_ value: StoredValue) -> Bool {
    switch value {
    case .null: return hasNull
    case .string(let text):
      if texts.contains(folded(text)) { return true }
      if !uuids.isEmpty, let uuid = UUID(uuidString: text), uuids.contains(uuid) { return true }
      guard let number = Number(text: text) else { return false }
      // A text compares with numbers but not with dates, which have the same keys.
      guard number.key.map(numbers.contains) ?? true else { return isStray(value) }
      return values.contains { $0.isSame(as: value, options: options) }
    case .uri(let text): return texts.contains(folded(text))
    case .uuid(let uuid): return uuids.contains(uuid) || uuidTexts.contains(uuid)
    case .objectID(let id): return others.contains(.objectID(id.current))
    case .data: return others.contains(value)
    case .composite: return isStray(value)
    case .integer, .boolean, .double, .decimal, .date:
      guard let key = Number(value)?.key else { return values.contains { $0.isSame(as: value, options: options) } }
      if numbers.contains(key) { return true }
      if case .date = value { return isStray(value) }
      return numericTexts.contains(key) || isStray(value)
    }
  }

  private func isStray(_ value: StoredValue) -> Bool { strays.contains { $0.isSame(as: value, options: options) } }

  private func folded(_ text: String) -> [UInt8] { Array(TextComparison(options).folded(text).utf8) }
}

extension Number {
  /// A key shared by equal numbers; nil for numbers that compare differently as decimals and as doubles.
  fileprivate var key: ValueKey? {
    switch self {
    case .integer(let value): return .whole(value)
    case .double:
      if let whole { return .whole(whole) }
      return decimal.map(ValueKey.fraction)
    case .decimal(let value):
      guard !value.isNaN, value == 0 || 1e-100..<1e100 ~= abs(double) else { return nil }
      return whole.map(ValueKey.whole) ?? .fraction(value)
    }
  }
}
