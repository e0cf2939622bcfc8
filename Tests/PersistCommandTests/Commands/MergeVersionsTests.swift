import Foundation
import PersistTestSupport
import Testing

/// Merges of small models, in which one side refers to what the other renames or removes.
@Suite("References in merged versions")
struct MergeVersionsTests {
  /// The parts of a model that the two sides change.
  private struct Parts {
    var name = #"<attribute name="name" optional="YES" attributeType="String"/>"#
    var person = #"<attribute name="age" optional="YES" attributeType="Integer 32"/>"#
    var pet = #"<entity name="Pet">"#
    var nick = #"<attribute name="nick" optional="YES" attributeType="String"/>"#
    var model = ""

    var contents: String {
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
      <entity name="Party">\(name)</entity>
      <entity name="Person" parentEntity="Party">\(person)</entity>
      \(pet)\(nick)</entity>
      \(model)
      </model>
      """
    }
  }

  /// Merges two changes of a model as `M c`.
  private func merge(
    _ first: @escaping (inout Parts) -> Void, _ second: @escaping (inout Parts) -> Void,
    _ body: (_ outcome: Command.Outcome, _ folder: URL, _ before: [String: Data?]) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let model = folder.appendingPathComponent("M.xcdatamodeld")
      func write(_ name: String, _ parts: Parts) throws {
        let version = model.appendingPathComponent("\(name).xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try Data(parts.contents.utf8).write(to: version.appendingPathComponent("contents"))
      }
      try write("M", Parts())
      for (name, change) in [("M a", first), ("M b", second)] {
        let outcome = try Command.run("version", "new", folder.path, name, "--from", "M")
        #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
        var parts = Parts()
        change(&parts)
        try write(name, parts)
      }
      let before = try FolderSnapshot(folder).entries.mapValues(\.bytes)
      try body(Command.run("merge-versions", folder.path, "M c"), folder, before)
    }
  }

  private func merged(_ folder: URL) throws -> String {
    try String(contentsOf: folder.appendingPathComponent("M.xcdatamodeld/M c.xcdatamodel/contents"), encoding: .utf8)
  }

  @Test("References to an inherited property that the other side renames follow, in every kind of element")
  func inherited() throws {
    try merge {
      $0.name = #"<attribute name="title" optional="YES" attributeType="String" elementID="name"/>"#
    } _: {
      $0.person += """
        <attribute name="loud" optional="YES" attributeType="String" derived="YES" \
        derivationExpression="uppercase:(name)"/>
        <fetchIndex name="byName" partialIndexPredicate="name != nil">\
        <fetchIndexElement property="name" type="Binary" order="ascending"/></fetchIndex>
        <fetchedProperty name="others" optional="YES"><fetchRequest name="others" entity="Person" \
        predicateString="name == $FETCH_SOURCE.name"/></fetchedProperty>
        <compoundIndexes><compoundIndex><index value="name"/><index value="age"/></compoundIndex></compoundIndexes>
        <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint>\
        </uniquenessConstraints>
        """
      $0.model = """
        <fetchRequest name="named" entity="Person" predicateString="name == 'name'"/>
        """
    } _: { outcome, folder, _ in
      #expect(outcome.status == 0, Comment(rawValue: outcome.output + outcome.messages))
      let text = try merged(folder)
      for expected in [
        #"derivationExpression="uppercase:(title)""#, #"partialIndexPredicate="title != nil""#, #"property="title""#,
        #"predicateString="title == $FETCH_SOURCE.title""#, #"<index value="title"/>"#, #"<constraint value="title"/>"#,
        #"predicateString="title == 'name'""#,
      ] {
        #expect(text.contains(expected), "\(expected)")
      }
    }
  }

  @Test("A property is renamed whose entity the other side renames, with that side's changes and references")
  func entityAndProperty() throws {
    try merge {
      $0.pet = #"<entity name="Animal" elementID="Pet">"#
      $0.nick = """
        <attribute name="nick" optional="YES" attributeType="String" maxValueString="9"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="nick"/></uniquenessConstraint>\
        </uniquenessConstraints>
        """
    } _: {
      $0.nick = #"<attribute name="callName" optional="YES" attributeType="String" elementID="nick"/>"#
    } _: { outcome, folder, _ in
      #expect(outcome.status == 0, Comment(rawValue: outcome.output + outcome.messages))
      let text = try merged(folder)
      let attribute = try #require(text.split(separator: "\n").first { $0.contains(#"name="callName""#) })
      #expect(attribute.contains(#"elementID="nick""#) && attribute.contains(#"maxValueString="9""#))
      #expect(text.contains(#"<entity name="Animal""#) && !text.contains(#"name="Pet""#))
      #expect(text.contains(#"<constraint value="callName"/>"#) && !text.contains(#"name="nick""#))
    }
  }

  @Test("A flaw of one side that names a part which the other side renames doesn't prevent the merge")
  func renamedFlaw() throws {
    try merge {
      $0.pet = #"<entity name="Animal" elementID="Pet">"#
    } _: {
      $0.person += """
        <relationship name="pet" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Pet" \
        inverseName="gone" inverseEntity="Pet"/>
        """
    } _: { outcome, folder, _ in
      #expect(outcome.status == 0, Comment(rawValue: outcome.output + outcome.messages))
      try #expect(merged(folder).contains(#"destinationEntity="Animal""#))
    }
  }

  @Test("A reference to a part that the other side removes is an error, and nothing is written", arguments: [
    """
    <uniquenessConstraints><uniquenessConstraint><constraint value="age"/></uniquenessConstraint>\
    </uniquenessConstraints>
    """,
    #"<fetchIndex name="byAge"><fetchIndexElement property="age" type="Binary" order="ascending"/></fetchIndex>"#,
    #"<attribute name="twice" optional="YES" attributeType="Integer 32" derived="YES" derivationExpression="age"/>"#,
  ])
  func removed(_ reference: String) throws {
    try merge {
      $0.person = ""
    } _: {
      $0.person += reference
    } _: { outcome, folder, before in
      #expect(outcome.status == 1, Comment(rawValue: outcome.output))
      #expect(outcome.messages.contains("age"), Comment(rawValue: outcome.messages))
      try #expect(FolderSnapshot(folder).entries.mapValues(\.bytes) == before)
    }
  }
}
