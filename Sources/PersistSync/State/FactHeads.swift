import Foundation
import Persist

/// The numbers of ``FactHead`` values in a store, so that the facts of its objects don't repeat the names of
/// properties.
final class FactHeads {
  private let history: any StoreHistory
  private var numbers: [FactHead: Int] = [:]
  private var heads: [FactHead] = []
  private var isRead = false
  /// The numbers that have been given since the table was read.
  private(set) var added: [Data: Data] = [:]

  /// The number of heads that get one. Those of others are in the keys of their facts, so that many names that somebody
  /// has made up don't make the table large.
  static let maximumCount = 4096

  init(_ history: any StoreHistory) { self.history = history }

  private static func key(_ number: Int) -> Data {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "H"))
    writer.fixed(UInt32(clamping: number))
    return writer.data
  }

  private func read() throws {
    guard !isRead else { return }
    isRead = true
    (numbers, heads) = ([:], [])
    let range = AttachedRange(prefix: Data([UInt8(ascii: "H")]))
    for entry in try history.attachedEntries([range], limit: .max)[0] {
      var reader = ByteReader(entry.value)
      let head = try FactHead(&reader)
      numbers[head] = heads.count
      heads.append(head)
    }
  }

  func head(_ number: Int) throws -> FactHead {
    try read()
    if !heads.indices.contains(number), added.isEmpty {
      isRead = false
      try read()
    }
    guard heads.indices.contains(number) else {
      throw PersistenceError(
        .mergeConflict, "Another program has synchronized the store.", fix: "Synchronize again.")
    }
    return heads[number]
  }

  /// The number of a head; nil if there are too many.
  func number(of head: FactHead) throws -> Int? {
    try read()
    if let known = numbers[head] { return known }
    guard heads.count < Self.maximumCount else { return nil }
    let number = heads.count
    numbers[head] = number
    heads.append(head)
    added[Self.key(number)] = head.bytes
    return number
  }
}
