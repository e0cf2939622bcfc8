import Foundation
import PersistCoreDataPass
import PersistTestSupport
import Testing

@Suite("The pass over Core Data sources")
struct CoreDataPassTests {
  private func rewritten(_ source: String) -> String { CoreDataPass(source, file: "Item.swift").text }

  private func problems(_ source: String) -> [(UncoveredPart, Int)] {
    CoreDataPass(source, file: "Item.swift").findings.map { ($0.problem, $0.line) }
  }

  @Test(
    "Attributes of Objective-C and dynamic go",
    arguments: [
      ("@objc public class Item: NSManagedObject {}", "public class Item: NSManagedObject {}"),
      ("@objc(Item) class Item {}", "class Item {}"),
      ("@objc(CDItem) final class Item {}", "final class Item { enum ObjectiveCName_CDItem {}}"),
      ("@objcMembers class A {}", "class A {}"),
      ("@objc(addItems:) func a(_ b: Int) {}", "func a(_ b: Int) {}"),
      ("public dynamic var a = 1", "public var a = 1"),
      ("let a = dynamic", "let a = dynamic"),
      ("a.dynamic.var", "a.dynamic.var"),
      ("@nonobjc func a() {}", "@nonobjc func a() {}"),
      ("@objc\n@available(*, deprecated)\nfunc a() {}", "\n@available(*, deprecated)\nfunc a() {}"),
    ])
  func attributes(source: String, expected: String) { #expect(rewritten(source) == expected) }

  @Test(
    "Texts and comments stay",
    arguments: [
      "let a = \"@objc dynamic var #keyPath(A.b)\"", "// @NSManaged var a: Int", "/* @objc /* dynamic var */ @objc */",
      "let a = #\"\\#(b) @objc \"quoted\" \"#", "let a = \"\"\"\n  @NSManaged var a: Int\n  \"\"\"",
      "let a = /@objc dynamic var/", "let a = ##\"\"\"\n\"# @objc\n\"\"\"##", "let a = \"\\\\\" // @objc",
    ])
  func texts(source: String) { #expect(rewritten(source) == source) }

  @Test(
    "Interpolations are code",
    arguments: [
      ("\"\\(#keyPath(Item.name))\"", "\"\\(\"name\")\""),
      ("\"a \\(f(\"b \\(#keyPath(Item.a.b))\")) c\"", "\"a \\(f(\"b \\(\"a.b\")\")) c\""),
      ("#\"\\(#keyPath(A.b)) \\#(#keyPath(A.b))\"#", "#\"\\(#keyPath(A.b)) \\#(\"b\")\"#"),
    ])
  func interpolations(source: String, expected: String) { #expect(rewritten(source) == expected) }

  @Test(
    "Key paths and selectors become names",
    arguments: [
      ("#keyPath(Item.owner.name)", "\"owner.name\""), ("#keyPath(name)", "\"name\""),
      ("#keyPath(Shop.Item.name)", "\"name\""), ("#keyPath(self.owner.name)", "\"owner.name\""),
      ("#keyPath(\n  Item.name\n)", "\"name\"\n\n"),
      ("#selector(getter: Item.name)", "Selector(\"name\")"), ("#selector(setter: name)", "Selector(\"setName:\")"),
      (
        "#selector(NSString.localizedCaseInsensitiveCompare(_:))", "Selector(\"localizedCaseInsensitiveCompare:\")"
      ),
    ])
  func names(source: String, expected: String) { #expect(rewritten(source) == expected) }

  @Test(
    "Managed properties become computed ones",
    arguments: [
      ("@NSManaged var a: Int32", "var a: Int32", "a", ""),
      (
        "@NSManaged public private(set) var a: [String: Any]? // note", "public private(set) var a: [String: Any]?",
        "a", " // note"
      ),
      ("@objc @NSManaged dynamic open var a: Set<Item>; let b = 1", "open var a: Set<Item>", "a", "; let b = 1"),
      ("@NSManaged\n  public var a: NSSet?\n  var b = 1", "\n  public var a: NSSet?", "a", "\n  var b = 1"),
      ("@NSManaged var `default`: Bool", "var `default`: Bool", "default", ""),
      ("@NSManaged var a: Module.Item?\n", "var a: Module.Item?", "a", "\n"),
    ])
  func properties(source: String, declaration: String, key: String, rest: String) {
    let body =
      " { get { managedValue(ManagedKey_\(key).key) } set { setManagedValue(newValue, ManagedKey_\(key).key) } }"
      + "; private enum ManagedKey_\(key) { static let key = ManagedKey(\"\(key)\") }"
    #expect(rewritten(source) == declaration + body + rest)
  }

  @Test("Several properties of one declaration become several declarations, and none is weak")
  func severalProperties() {
    let result = rewritten("@NSManaged private(set) weak public var a: Int?, b: [Int: A]\nvar c = 1")
    #expect(result.hasPrefix("private(set) public var a: Int? { get"))
    #expect(result.contains("}; private(set) public var b: [Int: A] { get"))
    #expect(result.hasSuffix("ManagedKey(\"b\") }\nvar c = 1"))
  }

  @Test(
    "Methods of relationships get bodies",
    arguments: [
      ("@NSManaged func addToItems(_ value: Item)", "addManaged(value, to: \"items\")"),
      ("@NSManaged func removeFromItems(_ values: NSSet)", "removeManaged(values, from: \"items\")"),
      ("@NSManaged func removeFromItems(at idx: Int)", "removeManaged(at: idx, from: \"items\")"),
      ("@NSManaged func insertIntoItems(_ value: Item, at idx: Int)", "insertManaged(value, into: \"items\", at: idx)"),
      ("@NSManaged func replaceItems(at i: Int, with v: Item)", "replaceManaged(at: i, in: \"items\", with: v)"),
      ("@NSManaged func addItemsObject(_ value: Item)", "addManaged(value, to: \"items\")"),
      ("@NSManaged func addToURLs(_ value: Item)", "addManaged(value, to: \"URLs\")"),
    ])
  func methods(source: String, body: String) {
    #expect(rewritten(source) == source.dropFirst("@NSManaged ".count) + " { \(body) }")
  }

  @Test("A class with an initializer of its own for entities creates read objects with it")
  func initializers() {
    let source = """
      class Item: NSManagedObject {
        override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
          super.init(entity: entity, insertInto: context)
        }
      }
      """
    let result = rewritten(source)
    #expect(result.split(separator: "\n").first?.contains("public required convenience init(_ origin:") == true)
    #expect(result.split(separator: "\n").count == source.split(separator: "\n").count)
  }

  @Test("Names that Foundation has, too, are those of Core Data's module")
  func ambiguousNames() {
    #expect(rewritten("import CoreData\nvar a: NSExpression").hasSuffix("var a: CoreData.NSExpression"))
    #expect(rewritten("import CoreData\nvar a: Foundation.NSExpression").hasSuffix("Foundation.NSExpression"))
    #expect(rewritten("var a: NSExpression") == "var a: NSExpression")
    #expect(rewritten("FileProtectionType.complete as NSObject") == "FileProtectionType.complete.rawValue as NSObject")
    #expect(rewritten("a.withSubstitutionVariables(b)") == "a.withVariables(b)")
  }

  @Test("Both sides of a condition are rewritten")
  func conditions() {
    #expect(
      rewritten("#if DEBUG\n@objc class A {}\n#else\n@objc class B {}\n#endif")
        == "#if DEBUG\nclass A {}\n#else\nclass B {}\n#endif")
  }

  @Test(
    "Methods that mapping models call are found by the selectors that Swift gives them",
    arguments: [
      ("func title(_ name: String) -> String", "title:", "self.title(arguments.value(0))"),
      ("func title(for name: String) -> String", "titleFor:", "self.title(for: arguments.value(0))"),
      ("func title(forName name: String, age: Int) -> String", "titleForName:age:",
        "self.title(forName: arguments.value(0), age: arguments.value(1))"),
      ("func title(name: String, _ age: Int) -> String", "titleWithName::",
        "self.title(name: arguments.value(0), arguments.value(1))"),
      ("func convertFrom(text: [String: Any]) -> Any?", "convertFromText:", "self.convertFrom(text: arguments.value(0))"),
      ("func check(_ a: String) throws -> String", "check:error:", "self.check(arguments.value(0))"),
    ])
  func selectors(method: String, selector: String, call: String) {
    let source = "@objc(P) class P: NSEntityMigrationPolicy {\n  @objc private \(method) { a }\n}"
    #expect(rewritten(source).contains("case \"\(selector)\": return ManagedResult(try \(call))"))
  }

  @Test("Only methods of policies and managers with an attribute for Objective-C get a selector")
  func methodsWithoutSelector() {
    for source in [
      "class P: NSEntityMigrationPolicy { func a() {} }", "class P: NSObject { @objc func a() {} }",
      "class P: NSEntityMigrationPolicy { @objc override func a() {} }",
      "class P: NSEntityMigrationPolicy { @objc static func a() {} }",
    ] {
      #expect(!rewritten(source).contains("callManaged"))
    }
    #expect(rewritten("class P: NSEntityMigrationPolicy { @objc(b:) func a(_ c: Int) {} }").contains("case \"b:\""))
    #expect(rewritten("@objcMembers class P: NSMigrationManager { func a() {} }").contains("(self.a())"))
  }

  @Test("Overrides in extensions, validation methods and policies are joined with classes in other files")
  func modules() {
    let passes = CoreDataPass.module([
      ("A.swift", "class A: NSManagedObject {\n}\nclass C: Q {}"),
      ("B.swift", """
        extension A {
          public override func willSave() { super.willSave() }
          override open func setValue(_ value: Any?, forKey key: String) throws { }
          @objc func validateName(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
          override var description: String { "a" }
        }
        """),
      ("C.swift", "class P: NSEntityMigrationPolicy {}\nclass Q: P {}\nextension C { @objc func b() {} }"),
    ])
    let first = passes[0].text
    #expect(first.contains("public override func willSave() { managed_A_willSave() };"))
    #expect(
      first.contains(
        "public override func setValue(_ value: Any?, forKey key: String) throws "
          + "{ try managed_A_setValue(value, forKey: key) };"))
    #expect(first.contains("public override var description: String { managed_A_description };"))
    #expect(first.contains("ManagedValidator(\"name\") { (object: A, value) in try object.validateName(value) }"))
    #expect(first.contains("case \"b\": return ManagedResult(self.b())"))
    #expect(first.split(separator: "\n").count == 3)
    #expect(passes[1].text.contains("  public func managed_A_willSave() { super.willSave() }"))
    #expect(passes[1].text.contains("  public func managed_A_setValue(_"))
    #expect(passes.allSatisfy { $0.findings.isEmpty })
  }

  @Test("An override in an extension of another module's class stays an error of the compiler")
  func overridesOfOtherModules() {
    let source = "extension A {\n  override func b() {}\n}"
    #expect(rewritten(source) == source)
  }

  @Test("Subclasses repeat the promise of safety of the module's classes")
  func sendable() {
    #expect(
      rewritten("class Stack: NSPersistentContainer, P { }")
        == "class Stack: NSPersistentContainer, P, @unchecked Sendable { }")
    #expect(rewritten("class A: NSFetchRequest<B> {}").contains("NSFetchRequest<B>, @unchecked Sendable {}"))
    #expect(rewritten("class A: UndoManager, @unchecked Sendable {}") == "class A: UndoManager, @unchecked Sendable {}")
    #expect(rewritten("class A: NSManagedObject {}") == "class A: NSManagedObject {}")
  }

  @Test("What isn't covered is reported with its line")
  func findings() {
    #expect(problems("\nlet a = NSPersistentCloudKitContainer(name: \"A\")").map(\.0) == [.cloudKit])
    #expect(problems("\n\n@objc protocol P { @objc optional func a() }").map(\.1) == [3])
    #expect(problems("button.addTarget(self, action: #selector(tap(_:)), for: .all)").map(\.0) == [.selectors])
    #expect(problems("item.observe(\\.name) { _, _ in }").map(\.0) == [.keyValueObserving])
    #expect(problems("import UIKit").map(\.0) == [.frameworks])
    #expect(
      problems("import CoreData\nlet a = NSExpression(forBlock: b, arguments: nil)").map(\.0) == [.expressionKind])
    #expect(problems("#if canImport(UIKit)\nimport UIKit\n#endif").isEmpty)
    #expect(problems("// NSIncrementalStore").isEmpty)
    #expect(problems("extension A {\n  override func b() {}\n}").map(\.1) == [2])
    #expect(problems("extension A {\n  override var b: Int { didSet {} }\n}").map(\.0) == [.extensionOverride])
  }

  @Test("The progress of a migration can be observed")
  func progress() {
    #expect(problems("manager.observe(\\.migrationProgress, options: .new) { _, _ in }").isEmpty)
  }

  @Test(
    "Casts between requests for different results succeed, as on Apple's platforms",
    arguments: [
      ("a() as! NSFetchRequest<A>", "a() <~! NSFetchRequest<A>.self"),
      ("f(a as? NSFetchRequest<Set<A>>)", "f(a <~? NSFetchRequest<Set<A>>.self)"),
      ("a as! NSFetchedResultsController<A>", "a <~! NSFetchedResultsController<A>.self"),
      ("a as NSFetchRequest<A>", "a as NSFetchRequest<A>"), ("a as! [A]", "a as! [A]"),
      ("a.mutableSetValue(forKey: b(c)) as? Set<A>", "a.mutableSetValue(forKey: b(c)).copy() as? Set<A>"),
      ("a.b(mutableSetValue) as? Set<A>", "a.b(mutableSetValue) as? Set<A>"),
    ])
  func casts(source: String, expected: String) {
    #expect(rewritten("import CoreData\n_ = \(source)") == "import CoreData\n_ = \(expected)")
  }

  @Test("Calls of objectIDs(forRelationshipNamed:), which can throw here, get another name")
  func relatedIdentifiers() {
    #expect(rewritten("a.objectIDs(forRelationshipNamed: b)") == "a.relatedObjectIDs(forRelationshipNamed: b)")
    #expect(rewritten("let objectIDs = [1]") == "let objectIDs = [1]")
  }

  @Test(
    "Objective-C's properties of managed objects are keys",
    arguments: [
      ("@objc var a: Int { 1 }", "ManagedProperty(\"a\", { (object: Item) in object.a })"),
      ("@objc dynamic var a = 1", "object.a }, set: { (object: Item, value) in object.a = value.value() })"),
      ("@objc var a: Int { get { 1 } set { b(newValue) } }", "object.a = value.value()"),
      ("@objc var a: Int {\n  didSet { b() }\n}", "object.a = value.value()"),
      ("@objc func a() -> String { b }", "ManagedProperty(\"a\", { (object: Item) in object.a() })"),
    ])
  func keys(source: String, entry: String) {
    let class1 = "class Item: NSManagedObject {\n  \(source)\n  @NSManaged var c: Int\n  var d: Int { 2 }\n}"
    let edited = rewritten(class1)
    #expect(edited.contains("override class var managedProperties: [ManagedProperty] { super.managedProperties + ["))
    #expect(edited.contains(entry))
    #expect(!edited.contains("\"d\"") && !edited.contains("ManagedProperty(\"c\""))
    let modules = CoreDataPass.module([
      ("Item.swift", "class Item: NSManagedObject {}"), ("Item+A.swift", "extension Item {\n  \(source)\n}"),
    ])
    #expect(modules[0].text.contains(entry))
  }

  @Test(
    "Others aren't keys",
    arguments: [
      "class A { @objc var a: Int { 1 } }", "class A: NSManagedObject { @objc static var a: Int { 1 } }",
      "class A: NSManagedObject { @objc override var description: String { b } }",
      "class A: NSManagedObject { @objc func a(_ b: Int) -> Int { b } }",
      "class A: NSManagedObject { func a() { @objc var b = 1 } }",
    ])
  func withoutKeys(source: String) { #expect(!rewritten(source).contains("managedProperties")) }

  @Test("A class with its own initializer and keys gets both declarations")
  func severalDeclarations() {
    let edited = rewritten(
      "class A: NSManagedObject {\n  override init(entity: E, insertInto context: C?) {}\n  @objc var a: Int { 1 }\n}")
    #expect(edited.contains("insertInto: nil) }; public override class var managedProperties"))
  }

  @Test("Sources that were edited once aren't changed again", arguments: [
    "ReadingList", "CoreDataNotes", "CoreDataLibrary", "CoreDataToolkit/Toolkit",
  ])
  func editedOnce(example: String) throws {
    let folder = PackageFolder.url.appendingPathComponent("Examples").appendingPathComponent(example)
    let sources = SourceFolder(folder)
    let texts = try sources.files.map { ($0.path, try String(contentsOf: $0, encoding: .utf8)) }
      + sources.models.map { ($0.path, GeneratedClasses(try XcodeModel(contentsOf: $0)).source) }
    let first = CoreDataPass.module(texts)
    #expect(first.contains { $0.editCount > 0 })
    for (pass, text) in zip(first, texts) {
      #expect(pass.text.split(separator: "\n", omittingEmptySubsequences: false).count
        == text.1.split(separator: "\n", omittingEmptySubsequences: false).count)
      #expect(pass.findings.isEmpty)
    }
    let second = CoreDataPass.module(first.map { ($0.file, $0.text) })
    for (first, second) in zip(first, second) { #expect(second.text == first.text) }
  }

  @Test("Generated sources name the original file")
  func locations() {
    let pass = CoreDataPass("let a = 1\n", file: "/a \"b\"/Item.swift")
    #expect(
      pass.locatedText
        == "#sourceLocation(file: \"/a \\\"b\\\"/Item.swift\", line: 1)\nlet a = 1\n")
  }
}
