import Foundation
import Persist
import PersistInspection
import PersistTools

extension StudioSession {
  /// The number of transactions that an answer contains.
  private static let shownTransactions = 200

  /// An object's past, the latest change first: what each transaction changed, with the values before and after it
  /// where the store keeps old values.
  ///
  /// The object may be a deleted one: its last values are those that the deletion kept.
  func past(_ request: StudioRequest) throws -> StudioAnswer {
    let form = try request.decoded(ObjectForm.self)
    let named = try store.model.entity(named: form.entity)
    let id = try found(form)
    let candidates = id.map { [$0] }
      ?? store.model.hierarchy(of: named).map { store.identifier($0.name, form.key.value) }
    var past = ObjectPast(limit: Self.shownTransactions)
    try store.withContents { contents in
      for candidate in candidates where past.entries.isEmpty {
        let object = candidate as ManagedObjectID
        var query = HistoryQuery()
        query.subject = HistoryQuery.Subject(object, limit: Self.shownTransactions)
        try contents.forEachTransaction(query) { past.add($0) }
      }
      if let id {
        try contents.forEachObject([id]) { object in
          past.setCurrentValues(try ObjectPast.values(of: object))
        }
      }
    }
    past.follow()
    let context = try store.context()
    let names = try ObjectNames(chosen: form.naming ?? [:], store: store, context: context).names(of: past.objects)
    return StudioAnswer.json { json in
      json.field("hasHistory", store.hasHistory)
      json.field("isDeleted", id == nil)
      json.field("isWhole", past.isWhole)
      json.field("keepsValues", past.keepsValues)
      json.field("entries", of: past.entries) { $0.value($1, names) }
    }
  }
}
