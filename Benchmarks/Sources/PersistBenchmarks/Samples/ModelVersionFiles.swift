import Foundation

/// The model of an application that has been released for years, as Xcode writes it: 88 entities in 117 versions, each
/// with one attribute more than the previous one.
enum ModelVersionFiles {
  private static let (entities, attributes) = (88, 8)

  static func write(_ versions: Int, to folder: URL) throws {
    for version in 1...versions {
      let file = folder.appendingPathComponent("\(name(version)).xcdatamodel")
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
      try Data(contents(version).utf8).write(to: file.appendingPathComponent("contents"))
    }
    let current = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict>
      <key>_XCCurrentVersionName</key><string>\(name(versions)).xcdatamodel</string>
      </dict></plist>
      """
    try Data(current.utf8).write(to: folder.appendingPathComponent(".xccurrentversion"))
  }

  private static func name(_ version: Int) -> String { "Catalogue \(version)" }

  private static func contents(_ version: Int) -> String {
    let entities = (1...entities).map { number in
      let added = number == 1 ? (1...version).map { attribute("added\($0)", "Integer 64") } : []
      let own = (1...attributes).map { attribute("value\($0)", $0.isMultiple(of: 2) ? "String" : "Double") }
      let next = number % Self.entities + 1
      let previous = (number + Self.entities - 2) % Self.entities + 1
      return """
            <entity name="Entity\(number)" representedClassName="Entity\(number)" syncable="YES">
        \((own + added).joined(separator: "\n"))
                <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Entity\(next)" inverseName="previous" inverseEntity="Entity\(next)"/>
                <relationship name="previous" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Entity\(previous)" inverseName="next" inverseEntity="Entity\(previous)"/>
            </entity>
        """
    }
    return """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" \
      userDefinedModelVersionIdentifier="\(version)">
      \(entities.joined(separator: "\n"))
      </model>
      """
  }

  private static func attribute(_ name: String, _ type: String) -> String {
    "        <attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\" usesScalarValueType=\"YES\"/>"
  }
}
