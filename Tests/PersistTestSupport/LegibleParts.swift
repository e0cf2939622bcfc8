public import Foundation
import Persist
import Synchronization
import Testing

/// The parts of files that can be read without a key.
public enum LegibleParts {
  /// The texts in a folder's files, in any of their forms, and the pages of databases that aren't encrypted.
  public static func find(in folder: URL, texts: [String]) throws -> [String] {
    files(in: folder).flatMap { find(in: $0.content, named: $0.name, texts: texts) }
  }

  /// The same of a file with this content.
  public static func find(in content: Data, named name: String, texts: [String]) -> [String] {
    var findings: [String] = []
    for text in texts {
      for (form, bytes) in forms(of: text) where content.range(of: bytes) != nil {
        findings.append("\(name) contains '\(text)' as \(form)")
      }
    }
    for expanded in expansions(of: content) {
      for text in texts where expanded.range(of: Data(text.utf8)) != nil {
        findings.append("\(name) contains '\(text)' compressed")
      }
    }
    // Without values, or with pages at places that depend on the moments of flushes.
    if ["-shm", "-journal", ".json"].contains(where: name.hasSuffix) { return findings }
    return findings + unencryptedPages(of: content, name: name)
  }

  private static func forms(of text: String) -> [(form: String, bytes: Data)] {
    let encodings: [(String, String.Encoding)] = [
      ("UTF-8", .utf8), ("UTF-16LE", .utf16LittleEndian), ("UTF-16BE", .utf16BigEndian),
    ]
    return encodings.compactMap { form, encoding in text.data(using: encoding).map { (form, $0) } }
      + [("hexadecimal digits", Data(text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined().utf8))]
  }

  /// The contents of the compressed parts, which begin with a head of zlib or gzip, or with the file.
  private static func expansions(of content: Data) -> [Data] {
    func expanded(_ part: Data, hasHeader: Bool) -> Data? {
      try? RawDeflate.expand(part, hasHeader: hasHeader, place: .file(URL(fileURLWithPath: "/")))
    }
    var expansions = expanded(content, hasHeader: false).map { [$0] } ?? []
    for head in [[0x78, 0x01], [0x78, 0x5e], [0x78, 0x9c], [0x78, 0xda], [0x1f, 0x8b]] as [[UInt8]] {
      var place = content.startIndex
      while let found = content[place...].range(of: Data(head)) {
        // Almost every one of them is chance.
        let part = Data(content[found.lowerBound...].prefix(1 << 16))
        if let expansion = expanded(part, hasHeader: true) { expansions.append(expansion) }
        place = found.lowerBound + 1
      }
    }
    return expansions
  }

  /// The pages of a database or a log whose bytes aren't evenly distributed, as those of texts, numbers, compressed
  /// texts with their heads, and of pages with free space aren't.
  private static func unencryptedPages(of content: Data, name: String) -> [String] {
    let size = 4096
    let (start, step) = name.hasSuffix("-wal") ? (32 + 24, size + 24) : (0, size)
    return content.withUnsafeBytes { bytes in
      stride(from: start, to: bytes.count - size + 1, by: step).compactMap { place in
        var counts = [Int](repeating: 0, count: 256)
        for byte in bytes[place..<place + size] { counts[Int(byte)] += 1 }
        if counts[0] == size { return nil }
        // Pearson's statistic, with 255 degrees of freedom: above 450 once in ten thousand million pages.
        let deviation = counts.reduce(0.0) { $0 + pow(Double($1) - 16, 2) } / 16
        return deviation > 450 ? "\(name) isn't encrypted at byte \(place)" : nil
      }
    }
  }

  private static func files(in folder: URL) -> [(name: String, content: Data)] {
    guard let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey]) else {
      return []
    }
    return files.compactMap { file in
      // Another process may have deleted it meanwhile.
      guard let file = file as? URL, (try? file.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true,
        let content = try? Data(contentsOf: file)
      else { return nil }
      return (file.lastPathComponent, content)
    }
  }

  // MARK: Runs with a key

  private static let plainFolders = Mutex<Set<String>>([])

  /// Lets a test leave plain stores in its folder although the run has a key.
  public static func allow(in folder: URL) { plainFolders.withLock { _ = $0.insert(folder.path) } }

  /// The law of a run with a key: no test's folder contains a database, or a part of one, that can be read.
  static func expectNone(in folder: URL) {
    guard TestKey.isUsed, !plainFolders.withLock({ $0.contains(folder.path) }) else { return }
    let texts = ["SQLite format 3", "CREATE TABLE", "Z_PRIMARYKEY"].map { Data($0.utf8) }
    for (name, content) in files(in: folder) where name.contains(".sqlite") || name.contains(".migration") {
      // Scripts and records of migrations.
      if [".sql", ".json", ".jsonl", ".swift", ".txt"].contains(where: name.hasSuffix) { continue }
      if texts.contains(where: { content.range(of: $0) != nil }) {
        Issue.record("'\(name)' can be read without a key.")
      }
    }
  }
}
