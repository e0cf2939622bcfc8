import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistStudioSession

/// Values and requests that only someone else makes.
@Suite("Bounds of the studio")
struct StudioBoundsTests {
  private static func text(objects: [PropertyList]) throws -> String? {
    let archive = PropertyList.dictionary([
      "$archiver": .string("NSKeyedArchiver"), "$top": .dictionary(["root": .uid(1)]),
      "$objects": .array([.string("$null")] + objects),
    ])
    return ArchiveText.text(of: try archive.binaryData())
  }

  @Test("An archive whose objects lead to themselves has an end")
  func archives() throws {
    let text = PropertyList.dictionary(["$classname": .string("NSString")])
    for objects: [PropertyList] in [
      [.uid(1)], [.uid(2), .uid(1)], [.dictionary(["$class": .uid(2), "NS.string": .uid(1)]), text],
      [.dictionary(["$class": .uid(2), "NS.objects": .array([.uid(1)])]), text],
    ] {
      try #expect(Self.text(objects: objects)?.contains("…") == true)
    }
    let plain: [PropertyList] = [.dictionary(["$class": .uid(2), "NS.string": .string("a")]), text]
    try #expect(Self.text(objects: plain) == "'a'")
  }

  @Test("A window beyond all rows is empty, or refused")
  func windows() async throws {
    try await withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let coordinator = PersistentStoreCoordinator(
        model: try ManagedObjectModel(
          ModelDescription(entities: [EntityDescription("Item", attributes: [.init("name", .string)])])))
      try coordinator.addStore(at: url)
      let session = try StudioSession(storeAt: url, models: nil, isWritable: false)
      defer { session.close() }
      for start in [0, 1, Int.max - 5000, .max, -1, .min] {
        for count in [0, 1, 1000, .max] {
          let body = """
            {"entity": "Item", "text": "", "columns": ["name"], "start": \(start), "count": \(count)}
            """
          for _ in 0..<2 {
            let answer = await session.answer(StudioRequest(.post, "rows", body: Data(body.utf8)))
            #expect([200, 400].contains(answer.status), "\(start) \(count): \(answer.status)")
          }
        }
      }
    }
  }
}
