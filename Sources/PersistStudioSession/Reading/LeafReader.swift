import Persist
import PersistTools

/// Reads values of given objects without ever reading a large one: long texts are measured, bytes are only looked for.
struct LeafReader {
  enum Value {
    case value(StoredValue)
    /// A text that is longer than the limit, with its length in UTF-16 code units.
    case longText(Int)
    /// Bytes, which weren't read, with their number if it is known.
    case bytes(Int?)
  }

  let entity: Entity
  let store: StudioStore
  let context: ManagedObjectContext
  /// The length of the longest text to read; nil to read everything.
  var limit: Int? = 2000

  /// Returns the values by key. Keys of rows that no longer exist are missing.
  func read(
    _ ids: [ManagedObjectID], leaves: [RowColumn.Leaf], relationships: [FetchExpression] = []
  ) throws -> [Int64: (leaves: [Value], relationships: [StoredValue])] {
    guard !ids.isEmpty else { return [:] }
    let isDirect = leaves.map { limit == nil || !($0.isText || $0.isBytes) }
    var columns = zip(leaves, isDirect).map { leaf, isDirect -> FetchExpression in
      isDirect ? leaf.expression : leaf.isText ? .function(.length, [leaf.expression]) : .constant(.integer(0))
    }
    columns += relationships
    var found: [Int64: (leaves: [Value], relationships: [StoredValue])] = [:]
    for (key, values) in try rows(ids, columns) {
      let own = zip(leaves, isDirect).enumerated().map { index, leaf -> Value in
        if !leaf.1, leaf.0.isText, case .integer(let length) = values[index], length > limit ?? 0 {
          return .longText(Int(length))
        }
        return .value(leaf.1 ? values[index] : .null)
      }
      found[key] = (own, Array(values.dropFirst(leaves.count)))
    }
    for (index, leaf) in leaves.enumerated() where !isDirect[index] {
      if leaf.isBytes {
        let keys = ids.compactMap(\.primaryKey)
        let lengths = try store.withContents { try $0.lengths(atSlot: leaf.slot, of: entity, keys: keys) }
        for (key, length) in lengths { found[key]?.leaves[index] = .bytes(length) }
      }
    }
    try readTexts(ids, leaves: leaves, isDirect: isDirect, into: &found)
    return found
  }

  /// Reads the texts that aren't too long: together if none of a row's is, otherwise one by one.
  private func readTexts(
    _ ids: [ManagedObjectID], leaves: [RowColumn.Leaf], isDirect: [Bool],
    into found: inout [Int64: (leaves: [Value], relationships: [StoredValue])]
  ) throws {
    let texts = leaves.indices.filter { !isDirect[$0] && leaves[$0].isText }
    guard !texts.isEmpty else { return }
    func isLong(_ id: ManagedObjectID, _ index: Int) -> Bool {
      guard let key = id.primaryKey, case .longText? = found[key]?.leaves[index] else { return false }
      return true
    }
    let short = ids.filter { id in !texts.contains { isLong(id, $0) } }
    for (key, values) in try rows(short, texts.map { leaves[$0].expression }) {
      for (index, value) in zip(texts, values) { found[key]?.leaves[index] = .value(value) }
    }
    for index in texts {
      let others = ids.filter { id in texts.contains { isLong(id, $0) } && !isLong(id, index) }
      for (key, values) in try rows(others, [leaves[index].expression]) {
        found[key]?.leaves[index] = .value(values.first ?? .null)
      }
    }
  }

  private func rows(
    _ ids: [ManagedObjectID], _ columns: [FetchExpression]
  ) throws -> [(key: Int64, values: [StoredValue])] {
    guard !ids.isEmpty, !columns.isEmpty else { return [] }
    var request = FetchRequest<FetchedRow>(entity.name, objectIDs: ids)
    request.propertiesToFetch = [ExpressionDescription("id", .current)]
    request.propertiesToFetch += columns.enumerated().map { ExpressionDescription("\($0)", $1) }
    return try context.fetch(request).compactMap { row in
      guard case .objectID(let id)? = row.storedValue(forKey: "id"), let key = id.primaryKey else { return nil }
      return (key, columns.indices.map { row.storedValue(forKey: "\($0)") ?? .null })
    }
  }
}
