import Dispatch
import Foundation
import Persist
import PersistInspection

/// The rows of a grid as lines of text, some hundred at a time.
///
/// The forms are those of `persist fetch --columns`: comma-separated values, or JSON lines.
final class RowExport: Sendable {
  enum Form: String {
    case csv
    case jsonLines = "jsonl"
  }

  private static let batchSize = 200
  private let store: StudioStore
  private let keys: RowKeys
  private let entity: Entity
  private let columns: [RowColumn]
  private let form: Form
  /// The column of identifiers.
  private let idColumn: String
  private let position = LockProtected(0)
  private let threads = DispatchQueue(label: "persist.studio.export")

  init(_ keys: RowKeys, of entity: Entity, columns: [RowColumn], as form: Form, from store: StudioStore) {
    (self.keys, self.entity, self.columns, self.form, self.store) = (keys, entity, columns, form, store)
    idColumn = DumpedProperties.free("id", besides: columns.map(\.name))
  }

  /// Returns the next lines; nil at the end.
  func next() async throws -> Data? {
    try await withCheckedThrowingContinuation { continuation in
      threads.async { continuation.resume(with: Result { try self.nextLines() }) }
    }
  }

  private func nextLines() throws -> Data? {
    let start = position.withLock { position in
      defer { position += Self.batchSize }
      return position
    }
    let head = start == 0 && form == .csv ? CSVText.line([idColumn] + columns.map(\.name)) : ""
    guard start < keys.count else { return head.isEmpty ? nil : Data(head.utf8) }
    let ids = (start..<min(start + Self.batchSize, keys.count)).map { index in
      let (key, entity) = keys[index]
      return store.identifier(store.model.entities[entity].name, key)
    }
    let reader = LeafReader(entity: entity, store: store, context: try store.context(), limit: nil)
    let read = try reader.read(
      ids, leaves: columns.flatMap(\.leaves), relationships: columns.compactMap(\.relationship))
    return Data(head.utf8)
      + ids.reduce(into: Data()) { lines, id in
        guard let key = id.primaryKey, let values = read[key] else { return }
        lines.append(line(id, Self.cells(columns, leaves: values.leaves, relationships: values.relationships)))
      }
  }

  private func line(_ id: ManagedObjectID, _ values: [StoredValue]) -> Data {
    switch form {
    case .csv: return Data(CSVText.line([id.description] + values.map { CSVText.text($0) ?? "" }).utf8)
    case .jsonLines:
      var json = JSONText()
      json.object { json in
        json.field(idColumn, id.description)
        for (column, value) in zip(columns, values) {
          json.key(column.name)
          json.value(value)
        }
      }
      json.newLine()
      return Data(json.bytes)
    }
  }

  private static func cells(
    _ columns: [RowColumn], leaves: [LeafReader.Value], relationships: [StoredValue]
  ) -> [StoredValue] {
    var own = leaves.map { value in if case .value(let value) = value { value } else { StoredValue.null } }[...]
    var related = relationships[...]
    return columns.map { column in
      switch column.content {
      case .attribute: return own.popFirst() ?? .null
      case .toOne, .toMany: return related.popFirst() ?? .null
      case .composite(let leaves):
        let whole = leaves.reduce(StoredValue.null) { whole, leaf in
          let value = own.popFirst() ?? .null
          return value.isNull ? whole : whole.replacing(leaf.path.dropFirst(), with: value)
        }
        return whole
      }
    }
  }
}

extension StudioSession {
  func export(_ request: StudioRequest) throws -> StudioAnswer {
    guard let format = RowExport.Form(rawValue: try request.parameter("format")) else {
      throw PersistenceError(.invalidRequest, "The format is 'csv' or 'jsonl'.")
    }
    let form = try RowsForm(exporting: request)
    let context = try store.context()
    let entity = try context.entity(named: form.entity)
    let columns = try form.columns.map { try RowColumn($0, of: entity) }
    guard let keys = try lists.list(for: form.request(), look: nil, isFresh: false).keys(within: nil) else {
      throw CancellationError()
    }
    let export = RowExport(keys, of: entity, columns: columns, as: format, from: store)
    return StudioAnswer(
      contentType: format == .csv ? "text/csv; charset=utf-8" : "application/x-ndjson; charset=utf-8",
      fileName: "\(entity.name).\(format.rawValue)", body: .pieces(count: nil) { try await export.next() })
  }
}

extension RowsForm {
  fileprivate init(exporting request: StudioRequest) throws {
    entity = try request.parameter("entity")
    text = request.parameters["text"] ?? ""
    columns = try request.parameter("columns").split(separator: ",").map(String.init)
    (start, count) = (0, 0)
    if let key = request.parameters["sort"], !key.isEmpty {
      order = [Order(key: key, isAscending: request.parameters["descending"] == nil)]
    }
  }
}
