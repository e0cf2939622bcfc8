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
/// Tokens of one store are ordered as its transactions are. The order of tokens of different stores has no meaning.
public struct HistoryToken: Sendable, Hashable, Codable {
  /// The number of the last transaction seen, by the identifier of the store; 0 before the first transaction.
  public let transactionNumbers: [String: Int64]

  /// Creates a token for several stores.
  ///
  /// - Parameter transactionNumbers: The number of a transaction, by the identifier of the store.
  public init(transactionNumbers: [String: Int64]) { self.transactionNumbers = transactionNumbers }

  /// Creates a token for one store.
  ///
  /// - Parameters:
  ///   - storeIdentifier: The store's UUID, as in its metadata.
  ///   - transactionNumber: The number of a transaction; 0 for a position before the first.
  public init(storeIdentifier: String, transactionNumber: Int64) {
    self.init(transactionNumbers: [storeIdentifier: transactionNumber])
  }

  /// Returns the number of the last transaction seen in a store, or nil if the token doesn't contain the store.
  public func transactionNumber(ofStore identifier: String) -> Int64? { transactionNumbers[identifier] }

  /// Returns a token with the greater of both positions in each store.
  public func merging(_ other: HistoryToken) -> HistoryToken {
    HistoryToken(transactionNumbers: transactionNumbers.merging(other.transactionNumbers, uniquingKeysWith: max))
  }
}

extension HistoryToken: Comparable {
  public static func < (left: HistoryToken, right: HistoryToken) -> Bool {
    left.sorted.lexicographicallyPrecedes(right.sorted, by: <)
  }

  private var sorted: [(String, Int64)] { transactionNumbers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
}

extension HistoryToken: LosslessStringConvertible {
  /// The token as a text: each store's identifier, a colon and a number, separated by commas.
  public var description: String { sorted.map { "\($0.0):\($0.1)" }.joined(separator: ",") }

  /// Creates a token from its ``description``. Nil if the text isn't one.
  public init?(_ description: String) {
    var numbers: [String: Int64] = [:]
    for part in description.split(separator: ",", omittingEmptySubsequences: false) {
      guard let colon = part.lastIndex(of: ":"), let number = Int64(part[part.index(after: colon)...]), number >= 0
      else { return nil }
      let identifier = String(part[..<colon])
      guard !identifier.isEmpty, numbers.updateValue(number, forKey: identifier) == nil else { return nil }
    }
    self.init(transactionNumbers: numbers)
  }
}
