import Foundation
import PersistCoreDataPass
import Testing

@Suite("The pass over names of other modules and of Objective-C's initializers")
struct ForeignNamesTests {
  private func rewritten(_ source: String) -> String {
    String(CoreDataPass("import CoreData\n\(source)", file: "Item.swift").text.dropFirst(16))
  }

  private func problems(_ source: String) -> [UncoveredPart] {
    CoreDataPass("import CoreData\n\(source)", file: "Item.swift").findings.map(\.problem)
  }

  @Test(
    "Modules for logging have a counterpart",
    arguments: [
      ("import os", "import AppleLogging"), ("import os.log", "import AppleLogging"),
      ("import OSLog", "import AppleLogging"), ("import struct os.Logger", "import AppleLogging"),
      ("@preconcurrency import os.log\nlet os = 1", "@preconcurrency import AppleLogging\nlet os = 1"),
      ("import osx", "import osx"),
    ])
  func logging(source: String, expected: String) {
    #expect(rewritten(source) == expected)
    #expect(problems(source).isEmpty)
  }

  @Test(
    "Objects of generic types are created without an initializer",
    arguments: [
      ("T(entity: a, insertInto: b)", "T.managed(entity: a, insertInto: b)"),
      ("Self(entity: f(a, b), insertInto: c)", "Self.managed(entity: f(a, b), insertInto: c)"),
      ("Shop.Item(entity: a, insertInto: nil)", "Shop.Item.managed(entity: a, insertInto: nil)"),
      ("type.init(entity: a, insertInto: b)", "type.managed(entity: a, insertInto: b)"),
      ("type.init(context: a)", "type.managed(context: a)"), ("self.init(context: a)", "self.init(context: a)"),
      ("T(context: a)", "T(context: a)"), ("Request(.init(context: a))", "Request(.init(context: a))"),
      ("super.init(entity: a, insertInto: b)", "super.init(entity: a, insertInto: b)"),
      ("self.init(entity: a, insertInto: b)", "self.init(entity: a, insertInto: b)"),
      ("init(entity: E, insertInto c: C?) {}", "init(entity: E, insertInto c: C?) {}"),
      ("NSBatchUpdateRequest(entity: a)", "NSBatchUpdateRequest(entity: a)"),
      ("A(entity: { b(insertInto: c) })", "A(entity: { b(insertInto: c) })"),
    ])
  func creation(source: String, expected: String) { #expect(rewritten(source) == expected) }

  @Test(
    "Bundles of classes are those of their modules",
    arguments: [
      ("Bundle(for: Item.self)", "Bundle.resources(for: Item.self)"),
      (
        "Bundle.main.url(forResource: a, withExtension: b)", "Bundle.main.resourceURL(forResource: a, withExtension: b)"
      ),
      ("Bundle.main.path(forResource: a, ofType: b)", "Bundle.main.resourcePath(forResource: a, ofType: b)"),
      ("Bundle.main.url", "Bundle.main.url"),
      ("Bundle.module.url(forResource: a)", "Bundle.module.url(forResource: a)"),
    ])
  func bundles(source: String, expected: String) { #expect(rewritten(source) == expected) }

  @Test("Names of Apple's frameworks are reported unless they are behind a condition")
  func conditions() {
    #expect(problems("let a: AnyPublisher<Int, Never>") == [.combine])
    #expect(problems("#if canImport(Combine)\nlet a: AnyPublisher<Int, Never>\n#endif").isEmpty)
    #expect(problems("#if canImport(CloudKit)\nlet a = NSPersistentCloudKitContainer(name: b)\n#endif").isEmpty)
    #expect(problems("let token: NSKeyValueObservation?").isEmpty)
  }

  @Test(
    "Observers of notifications get their methods instead of selectors",
    arguments: [
      ("#selector(didSave(_:))", "didSave(_:)"), ("#selector(Stack.didSave(notification:))", "didSave(notification:)"),
      ("#selector(self.didSave)", "didSave"), ("#selector(Stack.didSave as (Stack) -> () -> Void)", "didSave"),
      ("#selector(didSave(_:)\n  )", "didSave(_:)"),
    ])
  func observers(selector: String, method: String) {
    let source = "center.addObserver(self, selector: \(selector), name: .a, object: f(b))"
    let lines = String(repeating: "\n", count: selector.filter { $0 == "\n" }.count)
    #expect(rewritten(source) == "center.addObserver(self, calling: { $0.\(method) }\(lines), name: .a, object: f(b))")
    #expect(problems(source).isEmpty)
  }

  @Test(
    "Properties with setters are overridden in extensions",
    arguments: [
      (
        "var b: Int { get { 1 } set { c = newValue } }",
        "var b: Int { get { managed_A_b } set { managed_A_b = newValue } };"
      ),
      ("var b: Int { get { 1 } }", "var b: Int { managed_A_b };"),
      ("var b: Int { set.count }", "var b: Int { managed_A_b };"),
    ])
  func setters(source: String, expected: String) {
    let edited = rewritten("class A: B {}\nextension A {\n  override \(source)\n}")
    #expect(edited.contains("override \(expected)"))
    #expect(edited.contains(source.replacingOccurrences(of: "var b", with: "var managed_A_b")))
  }
}
