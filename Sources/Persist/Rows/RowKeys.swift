/// The keys of a query's result, in order: four bytes for each, if keys that are close in this order differ by less
/// than four billion, and none for runs of consecutive keys.
///
/// Keys are collected in chunks, so that a long list never moves in memory while it grows.
package struct RowKeys: Sendable {
  /// Consecutive keys by the first one, others as differences from the smallest one, or unchanged.
  private enum Numbers: Sendable {
    case consecutive(from: Int64)
    case narrow(ContiguousArray<UInt32>, from: Int64)
    case wide(ContiguousArray<Int64>)
  }

  /// The indexes of the rows' entities in ``ManagedObjectModel/entities``.
  private enum Entities: Sendable {
    case one(UInt32)
    case each(ContiguousArray<UInt32>)
  }

  private struct Chunk: Sendable {
    let numbers: Numbers
    let entities: Entities
  }

  private static let chunkSize = 8192
  private var chunks: ContiguousArray<Chunk> = []
  /// The keys and entities after those of the last chunk.
  private var openKeys: ContiguousArray<Int64> = []
  private var openEntities: ContiguousArray<UInt32> = []

  init() {}

  package init(_ batch: RowBatch) {
    for entry in batch.entries { append(entry.key, entityIndex: entry.entityIndex) }
  }

  package var count: Int { chunks.count * Self.chunkSize + openKeys.count }

  /// The memory used by keys and entities.
  var byteCount: Int {
    chunks.reduce(openKeys.count * 8 + openEntities.count * 4) { sum, chunk in
      let numbers =
        switch chunk.numbers {
        case .consecutive: 8
        case .narrow(let numbers, _): numbers.count * 4
        case .wide(let numbers): numbers.count * 8
        }
      let entities = if case .each(let entities) = chunk.entities { entities.count * 4 } else { 4 }
      return sum + numbers + entities
    }
  }

  mutating func append(_ key: Int64, entityIndex: UInt32) {
    openKeys.append(key)
    openEntities.append(entityIndex)
    if openKeys.count == Self.chunkSize { closeChunk() }
  }

  private mutating func closeChunk() {
    let first = openEntities[0]
    let entities = openEntities.allSatisfy { $0 == first } ? Entities.one(first) : .each(openEntities)
    var (least, greatest) = (openKeys[0], openKeys[0])
    for key in openKeys { (least, greatest) = (Swift.min(least, key), Swift.max(greatest, key)) }
    let (span, overflow) = greatest.subtractingReportingOverflow(least)
    if !overflow, span == Self.chunkSize - 1, openKeys.indices.allSatisfy({ openKeys[$0] - least == $0 }) {
      chunks.append(Chunk(numbers: .consecutive(from: least), entities: entities))
    } else if overflow || span > UInt32.max {
      chunks.append(Chunk(numbers: .wide(openKeys), entities: entities))
    } else {
      let numbers = ContiguousArray(openKeys.map { UInt32(truncatingIfNeeded: $0 &- least) })
      chunks.append(Chunk(numbers: .narrow(numbers, from: least), entities: entities))
    }
    openKeys.removeAll(keepingCapacity: true)
    openEntities.removeAll(keepingCapacity: true)
  }

  /// The key and the entity of the row at an index, from 0.
  package subscript(index: Int) -> (key: Int64, entityIndex: Int) {
    let (number, place) = index.quotientAndRemainder(dividingBy: Self.chunkSize)
    guard number < chunks.count else { return (openKeys[place], Int(openEntities[place])) }
    let key =
      switch chunks[number].numbers {
      case .consecutive(let first): first &+ Int64(place)
      case .narrow(let numbers, let least): least &+ Int64(numbers[place])
      case .wide(let numbers): numbers[place]
      }
    let entity =
      switch chunks[number].entities {
      case .one(let entity): entity
      case .each(let entities): entities[place]
      }
    return (key, Int(entity))
  }

  /// The list without the omitted keys and with the added ones, which must be in ascending order. Each is inserted
  /// before the first key that is greater or negative.
  func replacing(_ omitted: Set<Int64>, with added: [(key: Int64, entityIndex: Int)]) -> RowKeys {
    if omitted.isEmpty, added.isEmpty { return self }
    var keys = RowKeys()
    (0..<count).lazy.map { self[$0] }.filter { !omitted.contains($0.key) }.forEach(inserting: added, by: \.key) { row in
      keys.append(row.key, entityIndex: UInt32(truncatingIfNeeded: row.entityIndex))
    }
    return keys
  }
}

extension Sequence {
  /// Calls a closure with each element of a store's rows, which are ordered by key except for a parent's new objects:
  /// these have negative keys and come last. Others, which are ordered by key too, are inserted in their places.
  func forEach(inserting others: [Element], by key: (Element) -> Int64, _ body: (Element) -> Void) {
    var rest = others[...]
    for element in self {
      let place = key(element)
      while let next = rest.first, place < 0 || key(next) < place { body(rest.removeFirst()) }
      body(element)
    }
    rest.forEach(body)
  }
}
