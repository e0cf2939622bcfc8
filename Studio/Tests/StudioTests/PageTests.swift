import Foundation
import StudioPage
import Testing

@Suite("The studio's page")
struct PageTests {
  @Test("Every file that the page refers to is part of the program, and nothing is loaded from elsewhere")
  func references() throws {
    for path in StudioPage.paths {
      let file = try #require(StudioPage.file(path))
      let text = String(decoding: file.content, as: UTF8.self)
      let names = text.matches(of: #/(?:from|src=|href=)\s*['"]\.?\/([\w.]+\.\w+)['"]/#).map { String($0.1) }
      for name in names { #expect(StudioPage.file(name) != nil, "\(path) refers to \(name)") }
      let addresses = text.matches(of: #/https?:\/\/[\w.\/]+/#).map { String($0.0) }
      #expect(addresses.allSatisfy { $0 == "http://www.w3.org/2000/svg" }, "\(path): \(addresses)")
    }
  }

  @Test("No text of a store can become markup or a script")
  func sinks() throws {
    let sinks = #/
      innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new\ Function|parseFromString|javascript:
      /#
    for path in StudioPage.paths {
      let text = String(decoding: try #require(StudioPage.file(path)).content, as: UTF8.self)
      #expect(text.firstMatch(of: sinks) == nil, "\(path)")
      #expect(!text.contains("style=\""), "\(path)")
    }
  }
}
