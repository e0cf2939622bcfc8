import Foundation
import Persist
import PersistInspection

/// The content of a request for rows of the grid.
struct RowsForm: Decodable {
  struct Order: Decodable {
    let key: String
    let isAscending: Bool
  }

  let entity: String
  /// The predicate and clauses that the user typed.
  let text: String
  /// The order of the column heads, if the text has none.
  var order: [Order]?
  let columns: [String]
  /// The chosen naming attributes by entity.
  var naming: [String: String]?
  let start: Int
  let count: Int
  /// The look at the rows that the window belongs to; see ``RowListCache``.
  var look: String?
  /// Whether a new look needs a new list of the rows, even if no change of the store was found.
  var isFresh: Bool?
  /// Whether to count the rows now, if the list of them isn't read yet.
  var isCounting: Bool?

  static let longestWindow = 1000

  /// - Throws: ``PlacedError``; `PersistenceError.Code.invalidRequest` for a window that is too large.
  func request() throws -> FetchRequest<ManagedObject> {
    guard (0...Int.max - Self.longestWindow).contains(start), (0...Self.longestWindow).contains(count) else {
      throw PersistenceError(
        .invalidRequest, "A window begins within the rows and has at most \(Self.longestWindow) of them.")
    }
    var request = try QueryText(text, entity: entity).parsed().request(ManagedObject.self)
    if request.sortDescriptors.isEmpty {
      request.sortDescriptors = (order ?? []).map { FetchSortDescriptor($0.key, isAscending: $0.isAscending) }
    }
    return request
  }
}

extension StudioSession {
  /// The number of rows at the beginning that are read before the whole list is.
  private static let headSize = 500
  /// Lists of small stores are read within this time, so that the first answer has the number of rows.
  private static let patience = 0.03
  /// A number of objects whose list isn't read within that time.
  private static let longList = 200_000

  /// Returns the time to wait for the list of a request before its first rows are read alone.
  ///
  /// - Parameter count: The number of the entity's objects; nil if it isn't known.
  static func patience(for request: FetchRequest<ManagedObject>, of count: Int?) -> Double {
    request.predicate == nil && request.fetchLimit == 0 && count ?? 0 >= longList ? 0 : patience
  }

  func rows(_ request: StudioRequest) throws -> StudioAnswer {
    let form = try request.decoded(RowsForm.self)
    let fetch = try form.request()
    let context = try store.context()
    let entity = try context.entity(named: form.entity)
    let columns = try form.columns.map { try RowColumn($0, of: entity) }
    let list = try lists.list(for: fetch, look: form.look, isFresh: form.isFresh == true)
    let isHead = form.start + form.count <= Self.headSize
    let keys = try list.keys(within: isHead ? Self.patience(for: fetch, of: store.lastCount(of: entity)) : nil)
    let ids = try keys.map { identifiers($0, form) } ?? head(of: fetch, form, in: context)
    let total = try keys?.count ?? (form.isCounting == true ? context.count(for: fetch) : nil)
    let window = try RowWindow(ids, of: entity, columns: columns, naming: form.naming ?? [:], from: store, in: context)
    return StudioAnswer.json { json in
      json.field("start", form.start)
      json.field("total", total)
      json.field("rows", of: window.rows) { json, row in
        json.object { json in
          json.field("entity", row.id.entityName)
          json.field("key", row.id.keyText)
          json.key("cells")
          if let cells = row.cells {
            json.array(of: cells) { $0.value($1) }
          } else {
            json.null()
          }
        }
      }
    }
  }

  private func identifiers(_ keys: RowKeys, _ form: RowsForm) -> [ManagedObjectID] {
    let start = min(form.start, keys.count)
    return (start..<min(start + form.count, keys.count)).map { index in
      let (key, entity) = keys[index]
      return store.identifier(store.model.entities[entity].name, key)
    }
  }

  /// Reads the first rows alone, while the list is still being read.
  private func head(
    of fetch: FetchRequest<ManagedObject>, _ form: RowsForm, in context: ManagedObjectContext
  ) throws -> [ManagedObjectID] {
    var request = fetch.returning(ManagedObjectID.self)
    let end = form.start + form.count
    request.fetchLimit = fetch.fetchLimit == 0 ? end : min(end, fetch.fetchLimit)
    return end == 0 ? [] : Array(try context.fetch(request).dropFirst(form.start))
  }

  /// Shows how the request of the grid is executed, and where an index is missing; or what is wrong with it.
  func explanation(_ request: StudioRequest) throws -> StudioAnswer {
    let explanation = try store.context().explain(request.decoded(RowsForm.self).request())
    return StudioAnswer.json { $0.fields(of: explanation) }
  }
}
