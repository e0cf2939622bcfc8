/// A position in the history of one or more stores.
///
/// A token names the last transaction that a program has seen. It is a small value that can be saved in a file or in
/// the user defaults:
///
/// ```swift
/// let data = try JSONEncoder().encode(token)
/// let later = try JSONDecoder().decode(HistoryToken.self, from: data)
/// ```
///
/// A token belongs to one life of its store: after the store is restored or replaced, requests after the token fail
/// with ``PersistenceError/Code/historyTokenExpired``, even when the new history has reached the same number. A token
/// made from a number alone, by an initializer or by an earlier release, only shows that the number is unknown.
///
/// Tokens of one store are ordered as its transactions are. The order of tokens of different stores has no meaning.
public struct HistoryToken: Sendable, Hashable {
  /// The number of the last transaction seen, by the identifier of the store; 0 before the first transaction.
  public let transactionNumbers: [String: Int64]
  /// The marks of these transactions, as far as they are known.
  package let marks: [String: HistoryMark]

  /// Creates a token for several stores.
  ///
  /// - Parameter transactionNumbers: The number of a transaction, by the identifier of the store.
  public init(transactionNumbers: [String: Int64]) { self.init(transactionNumbers, marks: Dictionary()) }

  /// Creates a token for one store.
  ///
  /// - Parameters:
  ///   - storeIdentifier: The store's UUID, as in its metadata.
  ///   - transactionNumber: The number of a transaction; 0 for a position before the first.
  public init(storeIdentifier: String, transactionNumber: Int64) {
    self.init(transactionNumbers: [storeIdentifier: transactionNumber])
  }

  /// - Parameter marks: The marks of some of the transactions.
  init(_ transactionNumbers: [String: Int64], marks: [String: HistoryMark]) {
    (self.transactionNumbers, self.marks) = (transactionNumbers, marks)
  }

  /// - Parameter positions: The position in each store.
  package init(_ positions: [String: HistoryPosition]) {
    self.init(positions.mapValues(\.number), marks: positions.compactMapValues(\.mark))
  }

  /// Returns the number of the last transaction seen in a store, or nil if the token doesn't contain the store.
  public func transactionNumber(ofStore identifier: String) -> Int64? { transactionNumbers[identifier] }

  /// Returns a token with the greater of both positions in each store.
  public func merging(_ other: HistoryToken) -> HistoryToken {
    let numbers = transactionNumbers.merging(other.transactionNumbers, uniquingKeysWith: max)
    var marks: [String: HistoryMark] = Dictionary()
    for (identifier, number) in numbers {
      let holders = [self, other].filter { $0.transactionNumbers[identifier] == number }
      marks[identifier] = holders.lazy.compactMap { $0.marks[identifier] }.first
    }
    return HistoryToken(numbers, marks: marks)
  }
}

extension HistoryToken: Comparable {
  public static func < (left: HistoryToken, right: HistoryToken) -> Bool {
    left.sorted.lexicographicallyPrecedes(right.sorted, by: <)
  }

  private var sorted: [(String, Int64)] { transactionNumbers.sorted(on: \.key).map { ($0.key, $0.value) } }
}

extension HistoryToken: Codable {
  private enum CodingKeys: String, CodingKey {
    case transactionNumbers, marks
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let texts = try values.decodeIfPresent([String: String].self, forKey: .marks) ?? Dictionary()
    self.init(
      try values.decode([String: Int64].self, forKey: .transactionNumbers), marks: texts.compactMapValues { .init($0) })
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(transactionNumbers, forKey: .transactionNumbers)
    if !marks.isEmpty { try values.encode(marks.mapValues(\.text), forKey: .marks) }
  }
}

extension HistoryToken: LosslessStringConvertible {
  /// The token as a text: each store's identifier, a colon and a number, separated by commas. A point and hexadecimal
  /// digits after a number show the life of the store.
  public var description: String {
    sorted.map { identifier, number in
      "\(identifier):\(number)" + (marks[identifier].map { ".\($0.text)" } ?? "")
    }.joined(separator: ",")
  }

  /// Creates a token from its ``description``. Nil if the text isn't one.
  public init?(_ description: String) {
    var numbers: [String: Int64] = Dictionary()
    var marks: [String: HistoryMark] = Dictionary()
    for part in description.split(separator: ",", omittingEmptySubsequences: false) {
      guard let colon = part.lastIndex(of: ":") else { return nil }
      let (identifier, position) = (String(part[..<colon]), part[part.index(after: colon)...])
      let end = position.firstIndex(of: ".") ?? position.endIndex
      guard let number = Int64(position[..<end]), number >= 0, !identifier.isEmpty,
        numbers.updateValue(number, forKey: identifier) == nil
      else { return nil }
      guard end < position.endIndex else { continue }
      guard let mark = HistoryMark(String(position[position.index(after: end)...])) else { return nil }
      marks[identifier] = mark
    }
    self.init(numbers, marks: marks)
  }
}
