package import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// Conversions of file names for SQLite.
package enum SQLiteFileName {
  /// A URI in which every byte of the path except plain ones is escaped: `?` and `#` would end the path, `%` would
  /// begin an escape.
  ///
  /// - SeeAlso: <https://sqlite.org/uri.html>
  static func uri(for url: URL, parameters: [(name: StaticString, value: StaticString)] = []) throws -> String {
    let path = url.absoluteURL.path
    guard !path.utf8.contains(0) else {
      throw PersistenceError(.storeOpenFailed, at: .store(url), "The file name contains a NUL character.")
    }
    var uri = "file:"
    #if os(Windows)
      uri += "///"
    #endif
    let isPlain = { (byte: UInt8) in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"):
        true
      default: false
      }
    }
    if path.utf8.allSatisfy(isPlain) {
      uri += path
    } else {
      for byte in path.utf8 {
        if isPlain(byte) {
          uri.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
          let digits = String(byte, radix: 16, uppercase: true)
          uri += "%" + (digits.count < 2 ? "0" : "") + digits
        }
      }
    }
    for (index, parameter) in parameters.enumerated() {
      uri += "\(index == 0 ? "?" : "&")\(parameter.name)=\(parameter.value)"
    }
    return uri
  }

  /// The file with symbolic links resolved: SQLite places `-wal` and the other companion files beside that one.
  package static func resolved(_ url: URL) -> URL { url.absoluteURL.resolvingSymlinksInPath() }

  /// The path of the file with symbolic links resolved. Where many URLs would be created for it, this takes a tenth of
  /// their time.
  static func resolvedPath(_ url: URL) -> String {
    #if !os(Windows)
      let path = url.absoluteURL.path
      // A path that contains a zero would be that of another file.
      if !path.utf8.contains(0), let resolved = realpath(path, nil) {
        defer { free(resolved) }
        return String(cString: resolved)
      }
    #endif
    // There is no such file.
    return resolved(url).path
  }

  /// The path of a hidden folder beside a file, whose name consists of the file's and a suffix.
  static func hiddenPath(beside path: String, _ suffix: String) -> String {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let name = slash.map { path.utf8.index(after: $0) } ?? path.startIndex
    // Appending a substring would make Swift's runtime search the conformances of all libraries: 320,000 instructions.
    return String(path[..<name]) + "." + String(path[name...]) + suffix
  }

  /// The suffix of the name of an unfinished copy's folder, followed by a UUID.
  static let unfinishedSuffix = ".partial-"

  /// The name that an unfinished copy gets when it is complete; nil for other names.
  static func finishedCopy(of name: String) -> String? {
    guard let suffix = name.range(of: unfinishedSuffix, options: .backwards),
      UUID(uuidString: String(name[suffix.upperBound...])) != nil
    else { return nil }
    return String(name[..<suffix.lowerBound])
  }

  private static let companionSuffixes: [StaticString] = ["-wal", "-shm", "-journal"]

  /// Whether a name is that of a file that SQLite keeps beside a database.
  static func isOfCompanion(_ name: String) -> Bool { companionSuffixes.contains { name.hasSuffix("\($0)") } }

  /// The database beside which SQLite would keep a file of this name; nil for other names.
  package static func database(ofCompanion url: URL) -> URL? {
    let name = url.lastPathComponent
    return companionSuffixes.first { name.hasSuffix("\($0)") }.map { suffix in
      url.deletingLastPathComponent().appendingPathComponent(String(name.dropLast("\(suffix)".count)))
    }
  }

  /// The files that SQLite may keep beside the database.
  static func companions(of url: URL) -> [URL] {
    companionSuffixes.map { companion(of: url, $0) }
  }

  /// A file that SQLite keeps beside the database: `-wal`, `-shm` or `-journal`.
  @inline(never)
  static func companion(of url: URL, _ suffix: StaticString) -> URL {
    let file = resolved(url)
    return file.deletingLastPathComponent().appendingPathComponent("\(file.lastPathComponent)\(suffix)")
  }
}
