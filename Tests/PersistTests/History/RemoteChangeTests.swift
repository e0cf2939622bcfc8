import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Remote changes")
struct RemoteChangeTests {
  private func open(_ url: URL, posting: Bool) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try HistoryModel.make())
    var options = StoreOptions(tracksHistory: true)
    options.postsRemoteChangeNotifications = posting
    try coordinator.addStore(at: url, options: options)
    return coordinator
  }

  private func close(_ coordinators: PersistentStoreCoordinator...) throws {
    for coordinator in coordinators {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }

  /// Waits for a condition; long, since the machine may be busy.
  private func wait(_ what: String, until isTrue: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while try !isTrue() {
      try #require(ContinuousClock.now < deadline, "\(what)")
      Thread.sleep(forTimeInterval: 0.005)
    }
  }

  @Test("A save and a batch insert are posted by both coordinators of the store, with token, identifier and URL")
  func notifications() throws {
    try withTemporaryStore { url in
      let (one, other) = try (open(url, posting: true), open(url, posting: true))
      let seen = LockProtected<[[HistoryToken?]]>([[], []])
      let info = one.persistentStores[0]
      let observers = [one, other].enumerated().map { index, coordinator in
        NotificationCenter.default.addObserver(
          forName: PersistentStoreCoordinator.remoteStoreDidChangeNotification, object: coordinator, queue: nil
        ) { note in
          #expect(note.userInfo?[PersistentStoreCoordinator.storeUUIDKey] as? String == info.identifier)
          #expect((note.userInfo?[PersistentStoreCoordinator.storeURLKey] as? URL)?.path == url.path)
          let token = note.userInfo?[PersistentStoreCoordinator.historyTokenKey] as? HistoryToken
          seen.withLock { $0[index].append(token) }
        }
      }
      defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
      let context = ManagedObjectContext(one)
      try context.make("Team", [:])
      try context.save()
      func arrived() throws -> Bool {
        let token = try one.currentPersistentHistoryToken()
        return seen.withLock { $0.allSatisfy { $0.last == token } }
      }
      try wait("the save's notification", until: arrived)
      try context.execute(BatchInsertRequest("Tag", [["label": "a"]]))
      try wait("the batch's notification", until: arrived)
      let count = seen.withLock { $0.joined().count }
      _ = try context.fetch(FetchRequest("Team"))
      Thread.sleep(forTimeInterval: 0.05)
      #expect(seen.withLock { $0.joined().count } == count, "Reading changes nothing.")
      try close(one, other)
    }
  }

  @Test("The sequence has an element for changes by others, and ends with the coordinator")
  func sequence() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("store.sqlite")
    let writer = try open(url, posting: false)
    var reader: PersistentStoreCoordinator? = try open(url, posting: false)
    let changes = try #require(reader?.remoteChanges)
    let number = LockProtected<Int64>(0)
    let identifier = writer.persistentStores[0].identifier
    let following = Task {
      for await change in changes {
        #expect(change.storeUUID == identifier)
        number.withLock { $0 = change.historyToken?.transactionNumber(ofStore: identifier) ?? 0 }
      }
      return true
    }
    let context = ManagedObjectContext(writer)
    for count in 1...3 as ClosedRange<Int64> {
      try context.make("Team", [:])
      try context.save()
      let deadline = ContinuousClock.now + .seconds(120)
      while number.withLock({ $0 }) != count {
        try #require(ContinuousClock.now < deadline)
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    if let open = reader { try close(open) }
    reader = nil
    #expect(await following.value)
    try close(writer)
    // Watching left nothing beside the store.
    try #expect(FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store.sqlite"])
  }

  @Test(
    "Changes of a store that is open for reading only are reported, whatever state its files are in",
    .aboutFiles("the files of a store"))
  func readOnly() throws {
    try withTemporaryStore { url in
      // Nobody has the store open when it is opened for reading.
      try close(open(url, posting: false))
      let reader = PersistentStoreCoordinator(model: try HistoryModel.make())
      var options = StoreOptions(isReadOnly: true)
      options.postsRemoteChangeNotifications = true
      try reader.addStore(at: url, options: options)
      let count = LockProtected(0)
      let observer = NotificationCenter.default.addObserver(
        forName: PersistentStoreCoordinator.remoteStoreDidChangeNotification, object: reader, queue: nil
      ) { _ in count.withLock { $0 += 1 } }
      defer { NotificationCenter.default.removeObserver(observer) }
      for round in 1...3 {
        let writer = try open(url, posting: false)
        let context = ManagedObjectContext(writer)
        for save in 1...2 {
          let before = count.withLock { $0 }
          try context.make("Team", [:])
          try context.save()
          try wait("save \(save) of round \(round)") { count.withLock { $0 } > before }
          try #expect(ManagedObjectContext(reader).count(for: FetchRequest("Team")) == 2 * (round - 1) + save)
        }
        try close(writer)
      }
      try close(reader)
    }
  }

  @Test("The thread that watches a store ends with the last listener", .timeLimit(.minutes(5)))
  func lastListener() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let coordinator = try open(folder.appendingPathComponent("store.sqlite"), posting: false)
    let post = coordinator.remoteChangePost
    #expect(post.watchedCount == 0)
    for _ in 0..<2 {
      let listeners = (0..<2).map { _ in
        let changes = coordinator.remoteChanges
        return Task { for await _ in changes {} }
      }
      #expect(post.watchedCount == 1)
      listeners[0].cancel()
      await listeners[0].value
      #expect(post.watchedCount == 1)
      listeners[1].cancel()
      await listeners[1].value
      try wait("the end") { post.watchedCount == 0 }
    }
    let merging = Task { @MainActor in
      let context = ManagedObjectContext(coordinator)
      await context.mergeChangesContinuously()
    }
    try await Task.detached { while post.watchedCount == 0 { try await Task.sleep(for: .milliseconds(5)) } }.value
    merging.cancel()
    await merging.value
    try await Task.detached { while post.watchedCount > 0 { try await Task.sleep(for: .milliseconds(5)) } }.value
    try close(coordinator)
  }

  @Test("A store that nobody watches has no thread, and one that is removed from a notification doesn't wait for itself")
  func removal() throws {
    try withTemporaryStore { url in
      let coordinator = try open(url, posting: true)
      let isRemoved = LockProtected(false)
      let observer = NotificationCenter.default.addObserver(
        forName: PersistentStoreCoordinator.remoteStoreDidChangeNotification, object: coordinator, queue: nil
      ) { [weak coordinator] _ in
        guard let coordinator, let store = coordinator.persistentStores.first else { return }
        do { try coordinator.remove(store) } catch { Issue.record(error) }
        isRemoved.withLock { $0 = true }
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      let other = try open(url, posting: false)
      let context = ManagedObjectContext(other)
      try context.make("Team", [:])
      try context.save()
      try wait("the removal") { isRemoved.withLock { $0 } }
      try close(other)
    }
  }

  @Test("A store is removed or moved on the queue on which an observer is called next", arguments: [true, false])
  func observersQueue(isMoved: Bool) throws {
    try withTemporaryStore { url in
      let (coordinator, other) = try (open(url, posting: true), open(url, posting: false))
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let isPosted = LockProtected(false)
      let name = PersistentStoreCoordinator.remoteStoreDidChangeNotification
      // An observer with a queue blocks the thread that posts until its code has run.
      let observers = [
        NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: queue) { _ in },
        NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: nil) { _ in
          isPosted.withLock { $0 = true }
        },
      ]
      defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
      let ended = DispatchSemaphore(value: 0)
      queue.addOperation {
        do {
          let context = ManagedObjectContext(other)
          try context.make("Team", [:])
          try context.save()
          // If the blocking observer is called first, the other one isn't.
          let deadline = ContinuousClock.now + .seconds(2)
          while !isPosted.withLock({ $0 }), ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.005) }
          Thread.sleep(forTimeInterval: 0.1)
          let store = coordinator.persistentStores[0]
          if isMoved {
            try coordinator.migratePersistentStore(store, to: nil)
          } else {
            try coordinator.remove(store)
          }
        } catch {
          Issue.record(error)
        }
        ended.signal()
      }
      try #require(ended.wait(timeout: .now() + 120) == .success)
      try close(coordinator, other)
    }
  }

  @Test("A store that continues in another file reports the changes of that file", .aboutFiles("copies"))
  func anotherFile() throws {
    try withTemporaryStore { url in
      let copy = otherStore("Copy", beside: url)
      let coordinator = try open(url, posting: true)
      let store = coordinator.persistentStores[0]
      try coordinator.backUp(store, to: copy)
      try coordinator.setURL(copy, for: store)
      let number = LockProtected<Int64?>(nil)
      let observer = NotificationCenter.default.addObserver(
        forName: PersistentStoreCoordinator.remoteStoreDidChangeNotification, object: coordinator, queue: nil
      ) { note in
        #expect((note.userInfo?[PersistentStoreCoordinator.storeURLKey] as? URL)?.path == copy.path)
        let token = note.userInfo?[PersistentStoreCoordinator.historyTokenKey] as? HistoryToken
        number.withLock { $0 = token?.transactionNumber(ofStore: store.identifier) }
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      let other = try open(copy, posting: false)
      let context = ManagedObjectContext(other)
      try context.make("Team", [:])
      try context.save()
      try wait("the notification") { number.withLock { $0 } == 1 }
      #expect(coordinator.remoteChangePost.watchedCount == 1)
      try close(coordinator, other)
      #expect(coordinator.remoteChangePost.watchedCount == 0)
    }
  }

  @Test("A store that is removed while watching begins isn't watched until it is added again")
  func removedMeanwhile() throws {
    try withTemporaryStore { url in
      let coordinator = try open(url, posting: true)
      let store = try #require(coordinator.openStores.first)
      // The monitor of a removed store is registered after the removal has ended its watching.
      _ = coordinator.detachStore(withIdentifier: store.identifier)
      coordinator.remoteChangePost.begin(store, of: coordinator)
      #expect(coordinator.remoteChangePost.watchedCount == 0)
      try store.close()
      var options = StoreOptions(tracksHistory: true)
      options.postsRemoteChangeNotifications = true
      try coordinator.addStore(at: url, options: options)
      #expect(coordinator.remoteChangePost.watchedCount == 1)
      try close(coordinator)
      #expect(coordinator.remoteChangePost.watchedCount == 0)
    }
  }
}
