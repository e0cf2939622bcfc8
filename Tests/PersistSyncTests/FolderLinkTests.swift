import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: links in the folder of a hub")
struct FolderLinkTests {
  private let replicas = [UUID(), UUID()]

  private func set(_ replica: UUID, _ number: Int64) -> (entry: SyncEntry, data: Data) {
    let entry = SyncEntry(replica: replica, number: number)
    return (entry, ChangeSet(entry, [ChangeSet.Fact]()).data)
  }

  @Test("A folder of one replica that is a link hides nothing of others, and nothing is read or written through it")
  func replicaFolder() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      for replica in replicas {
        let (entry, data) = set(replica, 1)
        #expect(try await hub.put(data, as: entry))
      }
      let own = hub.url.appendingPathComponent("changes/\(replicas[0].uuidString)")
      let outside = folder.appendingPathComponent("outside")
      try FileManager.default.moveItem(at: own, to: outside)
      try FileManager.default.createSymbolicLink(at: own, withDestinationURL: outside)
      #expect(try await hub.entries(after: [:]) == [set(replicas[1], 1).entry])
      let (entry, data) = set(replicas[0], 2)
      let failures: [@Sendable () async throws -> Void] = [
        { _ = try await hub.put(data, as: entry) },
        { try await hub.remove([SyncEntry(replica: entry.replica, number: 1)]) },
        { _ = try await hub.content(of: SyncEntry(replica: entry.replica, number: 1)) },
      ]
      for failure in failures {
        let error = await #expect(throws: PersistenceError.self) { try await failure() }
        #expect(error?.code == .malformedFile)
      }
      #expect(try await !hub.contains(SyncEntry(replica: replicas[0], number: 1)))
      #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).count == 1)
    }
  }

  @Test("Nothing is read or written through a link in place of one of the hub's folders", arguments: [
    "changes", "parts", "positions",
  ])
  func hubFolder(name: String) async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let outside = folder.appendingPathComponent("outside")
      for folder in [hub.url, outside] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      }
      try FileManager.default.createSymbolicLink(
        at: hub.url.appendingPathComponent(name), withDestinationURL: outside)
      let (entry, data) = set(replicas[0], 1)
      let position = ReplicaPosition(replica: replicas[0], sent: 1, received: [:], date: Date())
      let part = SyncEntry(part: Data(count: 32))
      await #expect(throws: PersistenceError.self) {
        switch name {
        case "changes": _ = try await hub.put(data, as: entry)
        case "parts": _ = try await hub.put(data, as: part)
        default: try await hub.setPosition(position)
        }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
      #expect(try await hub.entries(after: [:]).isEmpty)
      #expect(try await hub.parts().isEmpty)
      #expect(try await hub.positions().isEmpty)
    }
  }

  @Test("The folder of a hub may be a link, and may have to be created")
  func ownFolder() async throws {
    try await withTemporaryFolder { folder in
      let place = folder.appendingPathComponent("a/b")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      let link = folder.appendingPathComponent("link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place)
      for url in [link, place.appendingPathComponent("c/d/e")] {
        let (hub, (entry, data)) = (FolderHub(url), set(replicas[0], 1))
        #expect(try await hub.put(data, as: entry))
        #expect(try await hub.put(data, as: entry))
        #expect(try await hub.entries(after: [:]) == [entry])
        #expect(try await hub.content(of: entry) == data)
      }
    }
  }
}
