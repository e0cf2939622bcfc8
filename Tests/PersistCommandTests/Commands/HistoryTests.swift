import Foundation
import PersistTestSupport
import Testing

@Suite("persist history")
struct HistoryTests {
  private static let store = "notes/NoteStore-macOS-12-Monterey.sqlite"

  private func lines(_ arguments: String...) throws -> [NSDictionary] {
    let outcome = try Command.run(["history", SharedData.url(Self.store).path, "--json"] + arguments)
    #expect(outcome.status == 0, "\(outcome.messages)")
    return try outcome.jsonLines()
  }

  @Test("Every transaction is a line, with its changes", .needsSharedData)
  func transactions() throws {
    let all = try lines()
    #expect(all.count == 95)
    #expect(all.compactMap { $0["number"] as? Int } == Array(1...95))
    let first = try #require(all.first)
    #expect(first["timestamp"] as? Double == 775741286.822934)
    #expect(first["author"] as? String == "848")
    #expect(first["contextName"] as? String == "ViewContext")
    #expect(first["bundleID"] as? String == "com.apple.Notes")
    #expect(first["processID"] as? String == "Notes")
    let changes = all.flatMap { $0["changes"] as? [[String: Any]] ?? [] }
    #expect(changes.count == 303)
    let types = Dictionary(grouping: changes) { $0["type"] as? String ?? "" }.mapValues(\.count)
    #expect(types == ["insert": 47, "update": 251, "delete": 5])
    #expect(changes.allSatisfy { ($0["updatedProperties"] != nil) == ($0["type"] as? String == "update") })
    #expect(changes.allSatisfy { $0["tombstone"] == nil })
  }

  @Test("--since accepts a number, a token, a date and seconds; --author an author", .needsSharedData)
  func selection() throws {
    try #expect(lines("--since", "93").compactMap { $0["number"] as? Int } == [94, 95])
    let uuid = "FABDAB03-8EF2-41B9-9944-193D67BE0365"
    try #expect(lines("--since", "\(uuid):93").compactMap { $0["number"] as? Int } == [94, 95])
    let after = try lines("--since", "775741400.5").compactMap { $0["number"] as? Int }
    #expect(after.first == 39)
    // 775741400.5 s after 2001 is this moment.
    try #expect(lines("--since", "2025-08-01T11:43:20.500Z").compactMap { $0["number"] as? Int } == after)
    try #expect(lines("--since", "2025-08-01 11:43:20").compactMap { $0["number"] as? Int }.first == 38)
    try #expect(lines("--since", "2025-08-01").count == 95)
    try #expect(lines("--since", "2026-01-01").isEmpty)
    let nobody = try lines().filter { $0["author"] is NSNull }.count
    try #expect(lines("--author", "848").count == 95 - nobody)
    for wrong in ["yesterday", "-1", "1:2:3x"] {
      try #expect(Command.run("history", SharedData.url(Self.store).path, "--since=\(wrong)").status == 2)
    }
    let other = try Command.run("history", SharedData.url(Self.store).path, "--since", "\(UUID().uuidString):1")
    #expect(other.status == 2)
    #expect(other.messages.contains(uuid))
  }

  @Test("Text shows who changed which objects; a store without a history has none", .needsSharedData)
  func text() throws {
    let outcome = try Command.run("history", SharedData.url(Self.store).path, "--since", "93")
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("94  2025-08-01T"))
    let none = try Command.run("history", SharedData.url("posts/CoreDataMigration_Example_1.sqlite").path, "--json")
    #expect(none.status == 0)
    #expect(none.output.isEmpty)
    #expect(none.messages.contains("no history"))
  }
}
