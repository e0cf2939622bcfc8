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

  private static func run(_ arguments: [String]) async throws {
    let environment = ProcessInfo.processInfo.environment
    guard arguments.count >= 2, let member = environment["CHORES_MEMBER"] else {
      print("usage: CHORES_MEMBER=NAME ChoreDevice STORE list | sync | add|done|share|unshare|delete TITLE")
      exit(64)
    }
    let coordinator = try Chores.open(URL(fileURLWithPath: arguments[0]))
    let device = Device(coordinator: coordinator, member: member)
    switch (arguments[1], arguments.dropFirst(2).first) {
    case ("list", nil): for line in try device.list() { print(line) }
    case ("add", let title?): try device.add(title)
    case ("done", let title?): try device.change(title) { $0.isDone = true }
    case ("share", let title?): try device.change(title) { $0.isShared = true }
    case ("unshare", let title?): try device.change(title) { $0.isShared = false }
    case ("delete", let title?): try device.change(title) { $0.managedObjectContext?.delete($0) }
    case ("sync", nil):
      let url = environment["CHORES_URL"].flatMap(URL.init(string:)) ?? URL(fileURLWithPath: "/")
      let hub = HTTPHub(url, attempts: 3, pause: .milliseconds(100)) {
        ["Authorization": "Bearer \(member)-secret"]
      }
      let report = try await Replica(coordinator, identifiedBy: Chores.identifiers).synchronize(with: hub)
      print("sent \(report.sent), received \(report.received)")
      for refusal in report.refusals { print("refused: \(refusal.reason)") }
    case (let command, _): throw UnknownCommand(command: command)
    }
  }
}

struct UnknownCommand: Error, CustomStringConvertible {
  let command: String
  var description: String { "'\(command)' is no command, or its title is missing or too much." }
}

/// The chores on one device.
struct Device {
  let coordinator: PersistentStoreCoordinator
  let member: String

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
    let context = ManagedObjectContext(coordinator)
    try context.fetch(Chore.where(\.title == title)).forEach(body)
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
