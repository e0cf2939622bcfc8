import Foundation
import Persist
import PersistInspection

/// The kind of content of bytes: a picture, an archive, or anything.
struct BytesDescription {
  /// The media type of a picture that browsers can show without running anything in it; nil for other bytes.
  let pictureType: String?
  /// The text of a property list or keyed archive; nil for other bytes.
  let archive: String?
  let count: Int
  /// The first bytes in hexadecimal digits.
  let hexadecimal: String

  private static let shownCount = 1024
  private static let largestArchive = 4 << 20

  init(_ data: Data) {
    count = data.count
    pictureType = Self.pictureType(of: data)
    archive = data.count <= Self.largestArchive && Self.isPropertyList(data) ? ArchiveText.text(of: data) : nil
    hexadecimal = data.prefix(Self.shownCount).hexadecimalDigits
  }

  /// Recognizes pictures by their first bytes. SVG isn't among them, since it can contain scripts.
  static func pictureType(of data: Data) -> String? {
    let head = Array(data.prefix(12))
    if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
    if head.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
    if head.starts(with: Array("GIF8".utf8)) { return "image/gif" }
    let isWebP = head.starts(with: Array("RIFF".utf8)) && head.dropFirst(8).elementsEqual(Array("WEBP".utf8))
    return isWebP ? "image/webp" : nil
  }

  private static func isPropertyList(_ data: Data) -> Bool {
    data.starts(with: Array("bplist".utf8)) || data.starts(with: Array("<?xml".utf8))
  }
}

extension JSONText {
  mutating func value(_ bytes: BytesDescription) {
    object {
      $0.field("count", bytes.count)
      $0.field("pictureType", bytes.pictureType)
      $0.field("archive", bytes.archive)
      $0.field("hexadecimal", bytes.hexadecimal)
    }
  }
}
