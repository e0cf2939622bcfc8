import Testing

@testable import PersistCommand

@Suite("Lines that fit into a terminal")
struct LineWrappingTests {
  @Test("A long line continues under its last column")
  func columns() {
    let line = "  isFolder           →→ in order BookmarkEntity?, inverse parent, cascade"
    #expect(
      LineWrapping.wrapped(line, width: 60) == """
          isFolder           →→ in order BookmarkEntity?, inverse
                             parent, cascade
        """)
  }

  @Test("A long line without columns continues a little further to the right")
  func text() {
    #expect(LineWrapping.wrapped("one two three four", width: 10) == "one two\n    three\n    four")
    #expect(LineWrapping.wrapped("one\n\ntwo", width: 3) == "one\n\ntwo")
  }

  @Test("Nothing is lost, and only words longer than a line exceed it", arguments: [1, 2, 10, 20, 60, 80])
  func law(width: Int) {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let words = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
        String(repeating: "x", count: Int.random(in: 0...12, using: &generator))
      }
      let line = words.joined(separator: " ")
      let lines = LineWrapping.wrapped(line, width: width).split(separator: "\n")
      #expect(lines.joined().filter { $0 != " " } == line.filter { $0 != " " })
      for part in lines where part.count > width {
        #expect(part.drop { $0 == " " }.firstIndex(of: " ") == nil, "\(part)")
      }
    }
  }
}
