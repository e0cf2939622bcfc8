import Chores
import Foundation
import Persist
import PersistMacrosless
import PersistSync
import PersistSyncHTTP

/// A device of a member: a store that works without a connection, and synchronizes when told to.
///
/// ```
/// CHORES_MEMBER=ann ChoreDevice phone.sqlite add "Water the plants"
/// CHORES_MEMBER=ann CHORES_URL=http://127.0.0.1:8080/sync ChoreDevice phone.sqlite sync
/// ```
@main
struct ChoreDevice {
  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  private static let usage = """
    usage: CHORES_MEMBER=ann|bob ChoreDevice STORE list | sync | live
           CHORES_MEMBER=ann|bob ChoreDevice STORE add|done|share|unshare|delete TITLE
           CHORES_MEMBER=ann|bob ChoreDevice STORE rename TITLE NEW-TITLE
    """

  private static func run(_ arguments: [String]) async throws {
    let environment = ProcessInfo.processInfo.environment
    guard arguments.count >= 2, let member = environment["CHORES_MEMBER"] else {
      print(usage)
      exit(64)
    }
    let coordinator = try Chores.open(URL(fileURLWithPath: arguments[0]))
    let device = Device(coordinator: coordinator, member: member)
    guard ["sync", "live"].contains(arguments[1]), arguments.count == 2 else {
      for line in try device.perform(arguments.dropFirst()) { print(line) }
      return
    }
    guard let url = environment["CHORES_URL"].flatMap(URL.init(string:)) else {
      throw Mistake("CHORES_URL isn't set. Set it to the address of the server, such as http://127.0.0.1:8080/sync.")
    }
    let replica = try Replica(coordinator, identifiedBy: Chores.identifiers)
    let hub = HTTPHub(url, attempts: 3, pause: .milliseconds(100)) { ["Authorization": "Bearer \(member)-secret"] }
    if arguments[1] == "live" { return await device.live(replica, hub) }
    let report = try await replica.synchronize(with: hub)
    print("sent \(report.sent), received \(report.received)")
    for refusal in report.refusals { print("refused: \(refusal.reason)") }
  }
}

struct Mistake: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// The chores on one device.
struct Device {
  let coordinator: PersistentStoreCoordinator
  let member: String

  /// - Parameter words: A command, and a title or two.
  /// - Returns: Lines to print.
  func perform(_ words: some Collection<String>) throws -> [String] {
    let titles = Array(words.dropFirst())
    switch (words.first ?? "", titles.count) {
    case ("list", 0): return try list()
    case ("add", 1): try add(titles[0])
    case ("done", 1): try change(titles[0]) { $0.isDone = true }
    case ("rename", 2): try change(titles[0]) { $0.title = titles[1] }
    case ("share", 1): try change(titles[0]) { $0.isShared = true }
    case ("unshare", 1): try change(titles[0]) { $0.isShared = false }
    case ("delete", 1): try change(titles[0]) { $0.managedObjectContext?.delete($0) }
    case (let command, _): throw Mistake("'\(command)' is no command, or its title is missing or too much.")
    }
    return []
  }

  func list() throws -> [String] {
    let context = ManagedObjectContext(coordinator)
    return try context.fetch(Chore.all.sorted(by: \.title)).map { chore in
      "\(chore.isDone ? "[x]" : "[ ]") \(chore.title) (\(chore.owner?.name ?? ""))"
    }
  }

  func add(_ title: String) throws {
    let context = ManagedObjectContext(coordinator)
    let chore = Chore(context: context)
    chore.title = title
    chore.owner = try owner(context)
    try context.save()
  }

  /// Changes the chores with a title.
  func change(_ title: String, _ body: (Chore) -> Void) throws {
    // A synchronization may change the same chores between reading and saving.
    for _ in 0..<10 {
      do {
        return try changeOnce(title, body)
      } catch let error as PersistenceError where error.code == .mergeConflict {
        continue
      }
    }
    try changeOnce(title, body)
  }

  private func changeOnce(_ title: String, _ body: (Chore) -> Void) throws {
    let context = ManagedObjectContext(coordinator)
    let chores = try context.fetch(Chore.where(\.title == title))
    if chores.isEmpty { throw Mistake("No chore has the title '\(title)'.") }
    chores.forEach(body)
    try context.save()
  }

  /// The member, who is one object for all devices, whoever creates it first.
  private func owner(_ context: ManagedObjectContext) throws -> Member {
    if let present = try context.fetch(Member.where(\.name == member)).first { return present }
    let new = Member(context: context)
    new.name = member
    return new
  }
}
