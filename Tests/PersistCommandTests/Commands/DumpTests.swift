import Foundation
import PersistTestSupport
import Testing

@Suite("persist dump")
struct DumpTests {
  @Test("Posts: every object with its values, one line each", .needsSharedData)
  func posts() throws {
    let store = try SharedData.url("posts/CoreDataMigration_Example_1.sqlite").path
    let posts = try Command.run("dump", store, "--json").jsonLines()
    #expect(posts.count == 10)
    #expect(posts.allSatisfy { $0["entity"] as? String == "Post" })
    #expect(posts.compactMap { $0["pk"] as? Int } == posts.compactMap { $0["pk"] as? Int }.sorted())
    let attributes = posts.compactMap { $0["attributes"] as? [String: Any] }
    let first = try #require(attributes.max { ($0["postID"] as? String ?? "") < ($1["postID"] as? String ?? "") })
    #expect(first["postID"] as? String == "FFFECB21-6645-4FDD-B8B0-B960D0E61F5A")
    #expect(first["color"] as? String == "1BB732")
    #expect(first["content"] as? String == "Test body")
    #expect(first["date"] as? Double == 1_547_494_150.058821 - 978_307_200)
  }

  @Test("Posts and sections lead to each other", .needsSharedData)
  func relationships() throws {
    let store = try SharedData.url("posts/CoreDataMigration_Example_3.sqlite").path
    let objects = try Command.run("dump", store, "--json").jsonLines()
    let posts = objects.filter { $0["entity"] as? String == "Post" }
    let sections = objects.filter { $0["entity"] as? String == "Section" }
    #expect(posts.count == 12)
    #expect(sections.count == 14)
    var fromPosts: Set<[Int]> = []
    for post in posts {
      let members = (post["relationships"] as? [String: Any])?["sections"] as? [[String: Any]]
      for member in try #require(members) {
        #expect(member["entity"] as? String == "Section")
        fromPosts.insert([try #require(post["pk"] as? Int), try #require(member["pk"] as? Int)])
      }
    }
    var fromSections: Set<[Int]> = []
    for section in sections {
      let post = (section["relationships"] as? [String: Any])?["post"] as? [String: Any]
      fromSections.insert([try #require(post?["pk"] as? Int), try #require(section["pk"] as? Int)])
    }
    #expect(fromPosts == fromSections)
    #expect(fromPosts.count == 14)
  }

  @Test("A store with given models and with its own model has the same text", .needsSharedData)
  func sameText() throws {
    for (store, models) in [
      ("posts/CoreDataMigration_Example_2.sqlite", "posts"), ("moody/Moody 3.moody", "moody"),
      ("bookmarks/Bookmarks_V3.sqlite", "bookmarks"),
    ] {
      let own = try Command.run("dump", SharedData.url(store).path, "--json")
      let given = try Command.run("dump", SharedData.url(store).path, "--json", "--models", SharedData.url(models).path)
      #expect(own.status == 0)
      #expect(!own.output.isEmpty)
      #expect(own.output == given.output)
    }
  }

  @Test("A single entity, and an unknown entity", .needsSharedData)
  func oneEntity() throws {
    let store = try SharedData.url("posts/CoreDataMigration_Example_3.sqlite").path
    let sections = try Command.run("dump", store, "--json", "--entity", "Section").jsonLines()
    #expect(sections.count == 14)
    let none = try Command.run("dump", store, "--json", "--entity", "Chapter")
    #expect(none.status == 1)
    try #expect((none.json()["error"] as? [String: Any])?["name"] as? String == "unknownEntity")
    #expect(none.messages.contains("Post, Section"))
  }
}
