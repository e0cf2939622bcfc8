import Foundation
import Persist
@testable import PersistCoreDataPass
import PersistTestSupport
import Testing

@Suite("Classes that Xcode generates")
struct GeneratedClassesTests {
  private func source(_ entities: String) throws -> String {
    GeneratedClasses(try XcodeModel("<?xml version=\"1.0\"?><!-- a > b --><model type=\"m\">\(entities)</model>")).source
  }

  @Test(
    "An attribute's type is a scalar if the model says so, and otherwise an optional",
    arguments: [
      ("attributeType=\"Integer 16\" usesScalarValueType=\"YES\"", "Int16"),
      ("attributeType=\"Integer 64\" usesScalarValueType=\"YES\"", "Int64"),
      ("attributeType=\"Integer 32\" usesScalarValueType=\"NO\"", "NSNumber?"),
      ("attributeType=\"Integer 32\"", "NSNumber?"), ("attributeType=\"Boolean\" usesScalarValueType=\"YES\"", "Bool"),
      ("attributeType=\"Double\" usesScalarValueType=\"YES\" defaultValueString=\"0\"", "Double"),
      ("attributeType=\"Float\" usesScalarValueType='YES'", "Float"),
      ("attributeType=\"Date\" usesScalarValueType=\"YES\"", "TimeInterval"),
      ("optional=\"YES\" attributeType=\"Date\"", "Date?"), ("attributeType=\"String\"", "String?"),
      ("attributeType=\"Decimal\"", "NSDecimalNumber?"), ("attributeType=\"Binary\"", "Data?"),
      ("attributeType=\"UUID\"", "UUID?"), ("attributeType=\"URI\"", "URL?"),
      ("attributeType=\"Transformable\"", "NSObject?"),
      ("attributeType=\"Transformable\" customClassName=\"[String: Color&lt;A&gt;]\"", "[String: Color<A>]?"),
      ("attributeType=\"Composite\"", "[String: Any]?"),
    ])
  func attributes(definition: String, type: String) throws {
    let source = try source(
      """
      <entity name="Item" representedClassName="Item" codeGenerationType="class">
        <attribute name="a" \(definition)/>
      </entity>
      """)
    #expect(source.contains("    @NSManaged public var a: \(type)\n"))
  }

  @Test("Only entities with that setting get classes, and those with Category extensions alone")
  func settings() throws {
    let source = try source(
      """
      <entity name="A" representedClassName="A"/>
      <entity name="B" representedClassName=".B" codeGenerationType="category"/>
      <entity name="C" representedClassName="Shop.C" parentEntity="B" codeGenerationType="class"/>
      <entity name="D" codeGenerationType="class"/>
      <entity name="E" representedClassName="C" codeGenerationType="class"/>
      """)
    #expect(!source.contains("class A"))
    #expect(!source.contains("class B:"))
    #expect(source.contains("extension B {\n    @nonobjc public class func fetchRequest() -> NSFetchRequest<B> {"))
    #expect(source.contains("@objc(C)\npublic class C: B {}"))
    #expect(source.components(separatedBy: "class C").count == 2)
    #expect(!source.contains("class D"))
    // A subclass inherits the conformance of its superclass.
    #expect(source.components(separatedBy: ": Identifiable").count == 2)
  }

  @Test("To-many relationships have sets and accessors, ordered ones also accessors with indexes")
  func relationships() throws {
    let source = try source(
      """
      <entity name="A" representedClassName="A" codeGenerationType="class">
        <relationship name="default" optional="YES" maxCount="1" destinationEntity="B" inverseName="many"/>
        <relationship name="list" optional="YES" toMany="YES" ordered="YES" destinationEntity="B"/>
        <relationship name="URLs" optional="YES" toMany="YES" minCount="1" maxCount="4" destinationEntity="A"/>
      </entity>
      <entity name="B" representedClassName="NSManagedObject"/>
      """)
    #expect(source.contains("@NSManaged public var `default`: NSManagedObject?"))
    #expect(source.contains("@NSManaged public var list: NSOrderedSet?"))
    #expect(source.contains("@NSManaged public var URLs: NSSet?"))
    #expect(source.contains("@NSManaged public func insertIntoList(_ value: NSManagedObject, at idx: Int)"))
    #expect(source.contains("@NSManaged public func addToURLs(_ values: NSSet)"))
    #expect(!source.contains("insertIntoURLs"))
  }

  @Test("Nested elements aren't taken for the entity's own")
  func nesting() throws {
    let source = try source(
      """
      <composite name="Place"><attribute name="x" attributeType="Double"/></composite>
      <entity name="A" representedClassName="A" codeGenerationType="class">
        <userInfo><entry key="attribute" value="&quot;b&quot;"/></userInfo>
        <fetchedProperty name="found"><fetchRequest name="r" entity="A" predicateString="a &gt; 1"/></fetchedProperty>
      </entity>
      <elements><element name="A" positionX="0"/></elements>
      """)
    #expect(!source.contains("var x"))
    #expect(source.contains("@NSManaged public var found: [A]?"))
  }

  @Test("A malformed model is an error with its line")
  func malformed() {
    #expect(throws: MarkupScanner.Malformed(line: 2)) { try XcodeModel("<model>\n<entity name=\"A>") }
  }

  @Test("Every real model's properties are those that Persist reads", .needsSharedData)
  func realModels() throws {
    for file in SharedData.modelContents {
      let version = file.deletingLastPathComponent()
      let model = try ManagedObjectModel(contentsOf: version).description
      let found = try XcodeModel(contentsOf: version)
      #expect(Set(found.entities.map(\.name)) == Set(model.entities.map(\.name)), "\(version.path)")
      for entity in found.entities {
        let expected = try #require(model.entities.first { $0.name == entity.name })
        #expect(Set(entity.attributes.map(\.name)) == Set(expected.attributes.map(\.name)), "\(version.path)")
        for relationship in expected.relationships {
          let own = entity.relationships.first { $0.name == relationship.name }
          #expect(own?.isToMany == relationship.isToMany, "\(version.path): \(entity.name).\(relationship.name)")
          #expect(own?.isOrdered == relationship.isOrdered)
          #expect(own?.destination == relationship.destination)
        }
      }
    }
  }

  @Test("The generated classes of real models compile without a warning", .needsSharedData, .needsCompiler)
  func compiling() throws {
    let compiler = try #require(SnippetCompiler.shared)
    let folder = try StoreFolder()
    var generated = 0
    for file in SharedData.modelContents {
      let model = try XcodeModel(contentsOf: file.deletingLastPathComponent())
      guard model.hasGeneratedClasses else { continue }
      generated += 1
      // The compiler takes a second for each: every tenth of the many versions of one model is enough.
      guard generated.isMultiple(of: 10) || ProcessInfo.processInfo.environment["PERSIST_LONG_TESTS"] != nil else { continue }
      let url = folder.url.appendingPathComponent("Model.swift")
      try CoreDataPass(GeneratedClasses(model).source, file: url.path).text
        .write(to: url, atomically: true, encoding: .utf8)
      let errors = try compiler.errors(in: url, compiledWith: ["-swift-version", "5", "-warnings-as-errors"])
      #expect(errors.isEmpty, "\(file.path)")
    }
    #expect(generated > 50)
  }
}
