import Foundation
import GRDB
import Persist

extension Workload {
  static let fetching = [
    Workload(
      name: "fetchCold", summary: "fetch all as objects, in a fresh process", target: 1.6, start: .items, parts: fetch,
      shortfall: fetchShortfall),
    Workload(
      name: "fetchWarm", summary: "fetch all as objects", target: 1.3, start: .items, isWarm: true, parts: fetch,
      shortfall: fetchShortfall),
    Workload(
      name: "readCold", summary: "fetch all and read 8 properties, in a fresh process", target: 1.6, start: .items,
      parts: read, shortfall: fetchShortfall),
    Workload(
      name: "readWarm", summary: "fetch all and read 8 properties", target: 1.4, start: .items, isWarm: true,
      parts: read, shortfall: fetchShortfall),
    Workload(
      name: "refetch", summary: "fetch registered objects again", target: 0.9, start: .items,
      parts: fetch.merging([.persist: refetch]) { $1 }),
    Workload(
      name: "objectBytes", summary: "bytes of memory per fetched object of 8 properties", target: 260,
      measure: .heldBytesPerRow, start: .items, parts: held,
      shortfall: """
        The row takes 151 of these bytes: 69 for 8 slots, the version and the null bits, and 82 for strings and bytes. \
        The object takes 72, and 8 of the allocator; its entry in the identity map 20, with the free ones; the list of \
        results 8. SQLite's cache of pages takes 10, the end of the last chunk of rows and free space of the allocator \
        the rest. Fields of 16 bytes less would save the object 16, because the allocator rounds: those that only \
        changed objects need, and the one that each related object would otherwise need an allocation for. UUIDs in \
        two slots would save the row 8, where every slot has the same size now. Both would cost reading and changing \
        objects instructions and the code clarity.
        """),
  ]

  private static let fetchShortfall = """
    The thread that reads the rows executes a sixth more instructions than plain SQLite, which visits a row's values \
    with 2,900, and reads eight of them with 4,300. Another thread creates the objects meanwhile, and frees them \
    afterward, which takes another sixth. The rest is memory pages for 230 bytes per object; a warm process uses those \
    of rows again, but acquires those of objects, because the allocator returns them in between.
    """

  private static let fetch: [Contestant: Part] = [
    .persist: { setting in
      let context = try Samples.context(setting.file, Samples.items)
      return { UInt64(try context.fetch(SampleItem.all).count) }
    },
    .sqlite: { setting in
      let database = PlainSQLite(setting.file.path)
      return { database.touchAll() }
    },
    .grdb: { setting in
      let pool = try DatabasePool.measured(setting.file)
      return { UInt64(try pool.read { try ItemRecord.everything.fetchAll($0) }.count) }
    },
  ]

  private static let refetch: Part = { setting in
    let context = try Samples.context(setting.file, Samples.items)
    let items = try context.fetch(SampleItem.all)
    return { withExtendedLifetime(items) { UInt64((try? context.fetch(SampleItem.all).count) ?? 0) } }
  }

  private static let read: [Contestant: Part] = [
    .persist: { setting in
      let context = try Samples.context(setting.file, Samples.items)
      return {
        var sum = Checksum()
        for item in try context.fetch(SampleItem.all) { item.add(to: &sum) }
        return sum.value
      }
    },
    .sqlite: { setting in
      let database = PlainSQLite(setting.file.path)
      return { database.readAll() }
    },
    .grdb: { setting in
      let pool = try DatabasePool.measured(setting.file)
      return {
        var sum = Checksum()
        for item in try pool.read({ try ItemRecord.everything.fetchAll($0) }) { item.add(to: &sum) }
        return sum.value
      }
    },
  ]

  /// Retains the results until after the memory has been measured.
  private final class Results<Element> {
    var elements: [Element] = []
  }

  private static let held: [Contestant: Part] = [
    .persist: { setting in
      let context = try Samples.context(setting.file, Samples.items)
      let results = Results<SampleItem>()
      HeldResults.keep(results)
      return {
        results.elements = try context.fetch(SampleItem.all)
        return UInt64(results.elements.count)
      }
    },
    .grdb: { setting in
      let pool = try DatabasePool.measured(setting.file)
      let results = Results<ItemRecord>()
      HeldResults.keep(results)
      return {
        results.elements = try pool.read { try ItemRecord.everything.fetchAll($0) }
        return UInt64(results.elements.count)
      }
    },
  ]
}

/// Objects that stay alive until the process ends.
private enum HeldResults {
  static func keep(_ results: AnyObject) { _ = Unmanaged.passRetained(results) }
}
