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

  @Test("A reference to a part that the other side removes is a conflict, and nothing is written", arguments: [
    """
    <uniquenessConstraints><uniquenessConstraint><constraint value="age"/></uniquenessConstraint>\
    </uniquenessConstraints>
    """,
    #"<fetchIndex name="byAge"><fetchIndexElement property="age" type="Binary" order="ascending"/></fetchIndex>"#,
    #"<attribute name="twice" optional="YES" attributeType="Integer 32" derived="YES" derivationExpression="age"/>"#,
    """
    <fetchedProperty name="peers" optional="YES">\
    <fetchRequest name="r" entity="Person" predicateString="name != $NAME AND age &gt; 3"/></fetchedProperty>
    """,
  ])
  func removed(_ reference: String) throws {
    try merge {
      $0.person = ""
    } _: {
      $0.person += reference
    } _: { outcome, folder, before in
      #expect(outcome.status == 3, Comment(rawValue: outcome.messages))
      #expect(outcome.output.contains("conflict: Person") && outcome.output.contains("age"), "\(outcome.output)")
      try #expect(FolderSnapshot(folder).entries.mapValues(\.bytes) == before)
    }
  }

  /// A model of one entity as text.
  private func contents(_ properties: [String]) -> String {
    let attributes = properties.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
    return """
      <?xml version="1.0" encoding="UTF-8"?><model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Item">\(attributes.joined())</entity></model>
      """
  }

  @Test(
    "The versions that no other grew from are found, whatever the versions' names are",
    .law("random-lineages", short: 12, long: 300))
  func randomLineages() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      try withTemporaryFolder { folder in
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        var names: [String] = []
        while names.count < 7 {
          let name = String((0..<4).map { _ in letters.randomElement(using: &random) ?? "A" })
          if !names.contains(where: { $0.lowercased() == name.lowercased() }) { names.append(name) }
        }
        let model = folder.appendingPathComponent("M.xcdatamodeld")
        var lines = [#"["persist lock","2"]"#]
        var properties: [[String]] = []
        var heads = Set(names.indices)
        for (index, name) in names.enumerated() {
          let parent = index == 0 ? nil : Int.random(in: 0..<index, using: &random)
          if let parent {
            heads.remove(parent)
            lines.append("[\"parent\",\"M\",\"\(name)\",\"\(names[parent])\"]")
          }
          properties.append((parent.map { properties[$0] } ?? []) + ["p\(index)"])
          let version = model.appendingPathComponent("\(name).xcdatamodel")
          try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
          try Data(contents(properties[index]).utf8).write(to: version.appendingPathComponent("contents"))
        }
        lines.shuffle(using: &random)
        lines.removeAll { $0.hasPrefix("[\"persist") }
        let lock = ([#"["persist lock","2"]"#] + lines).joined(separator: "\n") + "\n"
        try Data(lock.utf8).write(to: folder.appendingPathComponent("models.lock"))
        let outcome = try Command.run("lock", folder.path, "--check", "--json")
        #expect(outcome.status == (heads.count > 1 ? 3 : 0), "\(lock) \(outcome.output) \(outcome.messages)")
        let versions = try Command.run("versions", folder.path, "--json")
        struct Versions: Decodable { let heads: [String] }
        let found = try JSONDecoder().decode(Versions.self, from: Data(versions.output.utf8))
        #expect(Set(found.heads) == Set(heads.map { names[$0] }), "\(lock)")
      }
    }
  }

  @Test("A part that uses what the other side removes is a conflict", arguments: [
    #"<relationship name="pet" optional="YES" maxCount="1" destinationEntity="Pet"/>"#,
    #"<fetchedProperty name="pets" optional="YES"><fetchRequest name="r" entity="Pet"/></fetchedProperty>"#,
  ])
  func removedEntity(_ reference: String) throws {
    for removesFirst in [true, false] {
      let removes: (inout Parts) -> Void = {
        $0.pet = #"<entity name="Bird">"#
        $0.nick = ""
      }
      let uses: (inout Parts) -> Void = { $0.person += reference }
      try merge(removesFirst ? removes : uses, removesFirst ? uses : removes) { outcome, folder, before in
        #expect(outcome.status == 3, "\(outcome.output) \(outcome.messages)")
        #expect(outcome.output.contains("conflict: Person"), "\(outcome.output)")
        try #expect(FolderSnapshot(folder).entries.mapValues(\.bytes) == before)
      }
    }
  }

  @Test("A merge conflict in the name of the current version is said")
  func currentVersionConflict() throws {
    try merge { _ in } _: { _ in } _: { _, folder, _ in
      let file = folder.appendingPathComponent("M.xcdatamodeld/.xccurrentversion")
      let text = try String(contentsOf: file, encoding: .utf8)
      try Data("<<<<<<< ours\n\(text)=======\n\(text)>>>>>>> theirs\n".utf8).write(to: file)
      let outcome = try Command.run("versions", folder.path)
      #expect(outcome.status == 1 && outcome.messages.contains("merge conflict"), "\(outcome.messages)")
    }
  }
}
