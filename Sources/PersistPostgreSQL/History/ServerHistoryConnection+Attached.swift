import Foundation
import Persist

/// Attached entries, in statements for groups of them.
extension ServerHistoryConnection {
  func attachedValues(of keys: ByteList) throws -> AttachedValues {
    var places: [Data: Int] = [:]
    let all = (0..<keys.count).map { index in
      let key = Data(keys.bytes[keys[index]])
      places[key] = index
      return key
    }
    var values = AttachedValues(count: keys.count)
    for group in groups(of: all) {
      guard let sql = SharedSQL.attachedEntries(withKeys: group) else { continue }
      try forEachRow(of: sql) { row in
        if let place = places[row.data(0)] { row.data(1).withUnsafeBytes { values.set(place, to: $0) } }
      }
    }
    return values
  }

  func setAttached(_ list: AttachedList) throws {
    let entries = list.entries.map { AttachedEntry(key: Data(list.bytes[$0.key]), value: Data(list.bytes[$0.value])) }
    for group in groups(of: entries, size: \.value.count) {
      if let sql = SharedSQL.setAttachedEntries(group) { try execute(sql) }
    }
  }
}
