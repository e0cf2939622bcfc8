import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Reading XML")
struct MarkupReaderTests {
  private func root(_ text: String, limits: MarkupReader.Limits = .init()) throws -> MarkupElement {
    try MarkupReader.root(in: Data(text.utf8), from: URL(fileURLWithPath: "/m/contents"), limits: limits)
  }

  private func failure(_ text: String, limits: MarkupReader.Limits = .init()) -> PersistenceError? {
    #expect(throws: PersistenceError.self) { try root(text, limits: limits) }
  }

  @Test("Elements, attributes, texts, references and lines are read")
  func reads() throws {
    let element = try root(
      """
      \u{FEFF}<?xml version="1.0"?>
      <!DOCTYPE plist PUBLIC "-//A>B" 'x'>
      <!-- no -- matter -->
      <a b="1 &lt;&quot;&#65;&#x1F600;" c='x"y'>
        one<b/><![CDATA[<two>&amp;]]>
        <b
          d = "e"></b>
      </a>
      """)
    #expect(element.attributes == ["b": "1 <\"A😀", "c": "x\"y"])
    #expect(element.line == 4)
    #expect(element.children.map(\.line) == [5, 6])
    #expect(element.children[1].attributes == ["d": "e"])
    #expect(element.text.split(whereSeparator: \.isWhitespace) == ["one<two>&amp;"])
  }

  @Test("An element is written and read back unchanged")
  func markup() throws {
    let element = try root("<a b='&quot;&#10;&amp;'><c>x &lt; y</c><d/></a>")
    #expect(try root(element.markup) == element)
  }

  @Test(
    "Malformed markup is refused with its line",
    arguments: [
      ("", "no root"), ("\n<a>", "ends inside <a>"), ("<a></b>", "closes"), ("<a/><b/>", "second root"),
      ("<a b=1/>", "quoted"), ("<a b='1' b='2'/>", "two attributes"), ("<a>&nbsp;</a>", "predefined entity"),
      ("<a>&#0;</a>", "no character"), ("<a>&#xD800;</a>", "no character"), ("<a>& b</a>", "no reference"),
      ("<a b='<'/>", "attribute's value"), ("<a><![CDATA[x</a>", "CDATA"), ("<!-- x", "comment"), ("x", "outside"),
      ("<a/>\n\nx", "outside"), ("<a>\u{1}</a>", "control"), ("<a b='1'c='2'/>", "space"), ("< a/>", "name"),
    ])
  func malformed(text: String, message: String) throws {
    let error = try #require(failure(text))
    #expect(error.code == .malformedFile)
    #expect(error.message.contains(message), "\(error)")
    #expect(error.place.file?.lastPathComponent == "contents")
    #expect(error.place.line != nil)
  }

  @Test("Declared entities are refused, whatever they represent")
  func entities() throws {
    for text in [
      "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
      "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
      "<!DOCTYPE a SYSTEM 'a.dtd'[<!ELEMENT a ANY>]><a/>",
    ] {
      let error = try #require(failure(text))
      #expect(error.message.contains("declares"))
    }
  }

  @Test("Size, depth and number of elements are limited")
  func bounds() throws {
    let deep = String(repeating: "<a>", count: 100_000)
    #expect(failure(deep)?.code == .limitExceeded)
    #expect(failure("<a><a/><a/><a/></a>", limits: .init(pieces: 3))?.code == .limitExceeded)
    #expect(failure("<a>xxxxx</a>", limits: .init(bytes: 10))?.code == .limitExceeded)
    #expect(throws: PersistenceError.self) { try MarkupReader.root(in: Data([0x3C, 0xFF]), from: nil) }
  }
}
