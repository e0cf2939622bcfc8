import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Property lists")
struct PropertyListTests {
  private let everything = PropertyList.dictionary([
    "true": .boolean(true), "false": .boolean(false), "null": .null,
    "integers": .array([0, 1, -1, 127, 255, 256, 65_536, 4_294_967_296, .max, .min].map(PropertyList.integer)),
    "unsigned": .unsigned(.max),
    "reals": .array([.real(0.1), .real(-0.0), .real(.infinity), .real(.greatestFiniteMagnitude)]),
    "date": .date(Date(timeIntervalSinceReferenceDate: 445_103_622.25)),
    "data": .data(Data((0...255).map { UInt8($0) })),
    "texts": .array(["", "Tea", "Tee für 🫖", String(repeating: "x", count: 300)].map(PropertyList.string)),
    "uids": .array([.uid(0), .uid(300), .uid(70_000)]),
    "nested": .dictionary(["empty": .dictionary([:]), "list": .array([])]),
  ])

  @Test("A list of every kind of value is written and read back unchanged")
  func roundTrip() throws {
    let data = try everything.binaryData()
    #expect(try PropertyList(data: data) == everything)
    #expect(try PropertyList(data: data).binaryData() == data)
  }

  @Test("Foundation reads lists written here, and vice versa")
  func foundation() throws {
    let list = PropertyList.dictionary([
      "a": .array([.integer(-5), .integer(300), .real(1.5), .boolean(true)]), "ü": .string("ä"),
      "date": .date(Date(timeIntervalSinceReferenceDate: 1000)), "data": .data(Data([1, 2, 3])),
      "long": .array((0..<1000).map { .string("element \($0)") }),
    ])
    let object = try PropertyListSerialization.propertyList(from: list.binaryData(), format: nil)
    for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
      let data = try PropertyListSerialization.data(fromPropertyList: object, format: format, options: 0)
      #expect(try PropertyList(data: data) == list)
    }
  }

  @Test("The metadata of real stores are unchanged after writing", .needsSharedData, arguments: storesWithSources)
  func metadata(_ store: String, _ source: String) throws {
    let data = try firstBlob(of: "SELECT Z_PLIST FROM Z_METADATA", inStore: store)
    let written = try PropertyList(data: data).binaryData()
    #expect(try PropertyList(data: written) == PropertyList(data: data))
    #expect(try foundationList(data) == foundationList(written))
  }

  private func foundationList(_ data: Data) throws -> NSDictionary {
    try #require(PropertyListSerialization.propertyList(from: data, format: nil) as? NSDictionary)
  }

  @Test("XML lists with references, comments, CDATA and Apple's document type are read")
  func xml() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple Computer//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <!-- a comment -->
      <plist version="1.0"><dict>
        <key>a&amp;b</key> <string>&lt;&#65;&#x42;<![CDATA[<raw>]]></string>
        <key>n</key><integer>-12</integer><key>r</key><real>1e3</real><key>t</key><true/>
        <key>d</key><date>2001-01-01T00:00:10Z</date><key>e</key><array/><key></key><string/>
        <key>bytes</key><data>
          AQID
          BA==
        </data>
      </dict></plist>

      """
    let expected = PropertyList.dictionary([
      "a&b": .string("<AB<raw>"), "n": .integer(-12), "r": .real(1000), "t": .boolean(true),
      "d": .date(Date(timeIntervalSinceReferenceDate: 10)), "e": .array([]), "": .string(""),
      "bytes": .data(Data([1, 2, 3, 4])),
    ])
    #expect(try PropertyList(data: Data(text.utf8)) == expected)
  }

  @Test("Malformed XML lists are refused with their line", arguments: [
    "<plist><dict><key>a</key></dict></plist>", "<plist><dict><string>a</string></dict></plist>",
    "<plist><array></dict></plist>", "<plist><array>", "<plist><integer>x</integer></plist>",
    "<plist><array>text</array></plist>", "<plist><string><true/></string></plist>", "<plist><blob/></plist>",
    "<plist><string>&boom;</string></plist>", "<plist><string>a</string><string>b</string></plist>",
    "<plist", "<plist>", "<plist></>", "<plist><key/></plist>",
    "<plist><dict><key>a</key><true/><key>a</key><true/></dict></plist>", "<plist><true/></plist> more",
    "<!DOCTYPE plist [<!ENTITY boom \"bang\">]><plist><string>&boom;</string></plist>",
  ])
  func malformedXML(_ text: String) {
    let error = #expect(throws: PersistenceError.self) { try PropertyList(data: Data(("\n" + text).utf8)) }
    #expect(error?.code == .malformedFile)
    #expect((error?.place.line ?? 0) >= 2)
  }

  @Test("Endless nesting is refused, in every form")
  func depth() throws {
    let deep = String(repeating: "<array>", count: 100_000)
    #expect(throws: PersistenceError.self) { try PropertyList(data: Data("<plist>\(deep)".utf8)) }
    var list = PropertyList.array([])
    for _ in 0..<1000 { list = .array([list]) }
    let tooDeep = list
    #expect(throws: PersistenceError.self) { try tooDeep.binaryData() }
    var objects: [[UInt8]] = (1...1000).map { (next: Int) -> [UInt8] in [0xA1, UInt8(next / 256), UInt8(next % 256)] }
    objects.append([0x08])
    let chain = binaryList(objects: objects)
    #expect(throws: PersistenceError.self) { try PropertyList(data: chain) }
  }

  @Test("Arrays that share arrays don't multiply without limit")
  func expansion() {
    var objects: [[UInt8]] = (1...60).map { (next: UInt8) -> [UInt8] in [0xA2, 0, next, 0, next] }
    objects.append([0x08])
    let list = binaryList(objects: objects)
    let error = #expect(throws: PersistenceError.self) { try PropertyList(data: list) }
    #expect(error?.code == .limitExceeded)
  }

  @Test("An object that contains itself is refused")
  func cycle() {
    #expect(throws: PersistenceError.self) { try PropertyList(data: binaryList(objects: [[0xA1, 0, 1], [0xA1, 0, 0]])) }
  }

  @Test("Damaged binary lists are refused or read, and nothing else", .law("property-lists", short: 1, long: 2000))
  func damage() throws {
    let good = try everything.binaryData()
    for length in 0..<good.count { #expect(throws: PersistenceError.self) { try PropertyList(data: good.prefix(length)) } }
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      for index in good.indices {
        var data = good
        data[index] = UInt8.random(in: 0...255, using: &random)
        #expect(throws: Never.self) {
          do { _ = try PropertyList(data: data) } catch is PersistenceError {}
        }
      }
    }
  }

  /// A binary list of given objects with references of two bytes.
  private func binaryList(objects: [[UInt8]]) -> Data {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += [UInt8(bytes.count / 256), UInt8(bytes.count % 256)]
      bytes += object
    }
    func number(_ value: Int) -> [UInt8] { [0, 0, 0, 0, 0, 0, UInt8(value / 256), UInt8(value % 256)] }
    let table = bytes.count
    let sizes: [UInt8] = [0, 0, 0, 0, 0, 0, 2, 2]
    return Data([bytes, offsets, sizes, number(objects.count), number(0), number(table)].joined())
  }
}
