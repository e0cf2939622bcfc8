import Foundation
import Persist

@testable import PersistSync

extension Device {
  /// The differences between the store's rows and those that follow from its facts. The rows of a replica that knows
  /// all of its own changes have none, whatever it has received.
  func outdatedRows() throws -> [String] {
    let work = replica.work
    _ = try work.capture()
    let (step, _, _) = try work.open()
    var pass = ProjectionPass(step)
    pass.add(try step.tables.allObjects().sorted())
    let deleted = try pass.assignRows()
    let writes = try RowWriting(pass, deleting: deleted).writes
    return writes.inserts.map { "insert \($0.entity.name) \($0.key) \($0.values)" }
      + writes.updates.map { update in
        let names = update.slots.map { update.entity.properties[$0].name }
        return "update \(update.entity.name) \(update.key) \(names) \(update.values)"
      }
      + writes.deletes.map { "delete \($0.entity.name) \($0.key)" }
      + writes.links.map { link in
        let name = link.entity.properties[link.slot].name
        return "link \(link.entity.name).\(name) of \(link.owner): added \(link.added), removed \(link.removed)"
      }
      + writes.orderings.map { order in
        "order \(order.entity.name).\(order.entity.properties[order.slot].name) of \(order.owner): \(order.members)"
      }
  }
}
