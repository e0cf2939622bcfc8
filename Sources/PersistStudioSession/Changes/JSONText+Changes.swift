import Foundation
import Persist
import PersistInspection

extension JSONText {
  /// A transaction for the page. Keys and values are texts, because numbers of scripts have only 53 bits.
  mutating func value(_ transaction: HistoryTransaction) { value(transaction) { $0.change($1) } }

  private mutating func change(_ change: HistoryChange) {
    object { json in
      json.field("type", change.changeType.name)
      json.field("entity", change.changedObjectID.entityName)
      json.field("key", change.changedObjectID.keyText)
      json.updatedProperties(of: change)
      json.field("tombstone", change.tombstone)
      json.field("oldValues", change.oldValues)
    }
  }

  private mutating func field(_ key: String, _ values: [String: StoredValue]?) {
    field(key, of: (values ?? [:]).sorted { $0.key < $1.key }) { json, value in
      json.object {
        $0.field("property", value.key)
        $0.field("text", value.value.isNull ? nil : value.value.description)
      }
    }
  }
}
