public import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The compiler's index of a package's debug build: the references of files to declarations, including members.
///
/// It is read with the toolchain's own library.
///
/// - SeeAlso: <https://github.com/swiftlang/llvm-project/blob/stable/20240723/clang/include/indexstore/indexstore.h>
public struct IndexStore {
  /// A use of a declaration of another file.
  public struct Reference: Hashable {
    public let file: String
    public let line: Int
    public let name: String
    public let declaredIn: String
    /// Whether the use assigns the declaration or changes it in place.
    public let isWrite: Bool
  }

  /// A text of the library, which declares it as a pointer and a length, like `iovec`.
  private typealias Text = iovec
  private typealias Handle = OpaquePointer
  private typealias Visitor = @convention(c) (UnsafeMutableRawPointer?, Handle?) -> Bool
  private typealias TextVisitor = @convention(c) (UnsafeMutableRawPointer?, Text) -> Bool

  private struct Occurrence {
    let file: String
    let line: Int
    let name: String
    let symbol: String
    let roles: UInt64
    let kind: Int32
  }

  private let library: UnsafeMutableRawPointer
  private let path: String

  /// Opens the index beside the test bundle.
  ///
  /// - Returns: Nil if the build created no index, or the toolchain has no library for it.
  public init?() {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    path = folder.appendingPathComponent("index/store").path
    guard FileManager.default.fileExists(atPath: path), let library = Self.openLibrary() else { return nil }
    self.library = library
  }

  private static func openLibrary() -> UnsafeMutableRawPointer? {
    for folder in (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") {
      let swift = URL(fileURLWithPath: "\(folder)/swift").resolvingSymlinksInPath()
      guard FileManager.default.isExecutableFile(atPath: swift.path) else { continue }
      for name in ["libIndexStore.so", "libIndexStore.dylib"] {
        let file = swift.deletingLastPathComponent().appendingPathComponent("../lib/\(name)").standardizedFileURL
        if let library = dlopen(file.path, RTLD_NOW) { return library }
      }
    }
    return nil
  }

  /// All references between two files of a folder.
  public func references(within folder: URL) -> Set<Reference> {
    let root = folder.standardizedFileURL.path + "/"
    let occurrences = newestRecords(root).flatMap { path, record in
      self.occurrences(inRecord: record.name, of: String(path.dropFirst(root.count)))
    }
    let (definition, implicit, reference, write): (UInt64, UInt64, UInt64, UInt64) = (1 << 1, 1 << 8, 1 << 2, 1 << 4)
    let parameter: Int32 = 30
    var definitions: [String: String] = [:]
    for occurrence in occurrences
    where occurrence.roles & definition != 0 && occurrence.roles & implicit == 0 && occurrence.kind != parameter {
      definitions[occurrence.symbol] = occurrence.file
    }
    var found: Set<Reference> = []
    for occurrence in occurrences where occurrence.roles & reference != 0 {
      guard let file = definitions[occurrence.symbol], file != occurrence.file else { continue }
      found.insert(
        Reference(
          file: occurrence.file, line: occurrence.line, name: occurrence.name, declaredIn: file,
          isWrite: occurrence.roles & write != 0))
    }
    return found
  }

  // MARK: Units and records

  /// The newest record of each file below a path that still exists.
  private func newestRecords(_ root: String) -> [String: (name: String, date: Date)] {
    guard let create = function("store_create", (@convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer?) -> Handle?).self),
      let store = create(path, nil),
      let visitUnits = function(
        "store_units_apply_f",
        (@convention(c) (Handle, UInt32, UnsafeMutableRawPointer?, TextVisitor) -> Bool).self),
      let readUnit = function(
        "unit_reader_create",
        (@convention(c) (Handle, UnsafePointer<CChar>, UnsafeMutableRawPointer?) -> Handle?).self),
      let mainFile = function("unit_reader_get_main_file", (@convention(c) (Handle) -> Text).self)
    else { return [:] }
    var units: [String] = []
    collectTexts({ visitUnits(store, 0, $0, $1) }, into: &units)
    var records: [String: (name: String, date: Date)] = [:]
    for unit in units {
      guard let reader = readUnit(store, unit, nil), Self.string(mainFile(reader)).hasPrefix(root) else { continue }
      for (file, name) in dependencies(of: reader) where file.hasPrefix(root) {
        let record = "\(path)/v5/records/\(name.suffix(2))/\(name)"
        guard FileManager.default.fileExists(atPath: file),
          let date = try? FileManager.default.attributesOfItem(atPath: record)[.modificationDate] as? Date
        else { continue }
        if records[file].map({ $0.date < date }) ?? true { records[file] = (name, date) }
      }
    }
    return records
  }

  private func dependencies(of reader: Handle) -> [(file: String, record: String)] {
    guard let visit = function(
        "unit_reader_dependencies_apply_f", (@convention(c) (Handle, UnsafeMutableRawPointer?, Visitor) -> Bool).self),
      let kind = function("unit_dependency_get_kind", (@convention(c) (Handle) -> Int32).self),
      let filePath = function("unit_dependency_get_filepath", (@convention(c) (Handle) -> Text).self),
      let name = function("unit_dependency_get_name", (@convention(c) (Handle) -> Text).self)
    else { return [] }
    let record: Int32 = 2
    return collect({ visit(reader, $0, $1) }) { dependency in
      kind(dependency) == record ? (Self.string(filePath(dependency)), Self.string(name(dependency))) : nil
    }
  }

  private func occurrences(inRecord name: String, of file: String) -> [Occurrence] {
    guard let create = function("store_create", (@convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer?) -> Handle?).self),
      let store = create(path, nil),
      let readRecord = function(
        "record_reader_create",
        (@convention(c) (Handle, UnsafePointer<CChar>, UnsafeMutableRawPointer?) -> Handle?).self),
      let reader = readRecord(store, name, nil),
      let visit = function(
        "record_reader_occurrences_apply_f", (@convention(c) (Handle, UnsafeMutableRawPointer?, Visitor) -> Bool).self),
      let symbol = function("occurrence_get_symbol", (@convention(c) (Handle) -> Handle?).self),
      let place = function(
        "occurrence_get_line_col",
        (@convention(c) (Handle, UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<UInt32>) -> Void).self),
      let roles = function("occurrence_get_roles", (@convention(c) (Handle) -> UInt64).self),
      let kind = function("symbol_get_kind", (@convention(c) (Handle) -> Int32).self),
      let symbolName = function("symbol_get_name", (@convention(c) (Handle) -> Text).self),
      let identifier = function("symbol_get_usr", (@convention(c) (Handle) -> Text).self)
    else { return [] }
    return collect({ visit(reader, $0, $1) }) { occurrence in
      guard let symbol = symbol(occurrence) else { return nil }
      var (line, column): (UInt32, UInt32) = (0, 0)
      place(occurrence, &line, &column)
      return Occurrence(
        file: file, line: Int(line), name: Self.string(symbolName(symbol)), symbol: Self.string(identifier(symbol)),
        roles: roles(occurrence), kind: kind(symbol))
    }
  }

  // MARK: Calling the library

  private func function<F>(_ name: String, _ type: F.Type) -> F? {
    // Unsafe: the types are those of indexstore.h.
    dlsym(library, "indexstore_" + name).map { unsafeBitCast($0, to: type) }
  }

  private static func string(_ text: Text) -> String {
    guard let base = text.iov_base, text.iov_len > 0 else { return "" }
    return String(decoding: UnsafeRawBufferPointer(start: base, count: Int(text.iov_len)), as: UTF8.self)
  }

  /// A closure that a visitor of the library calls through its context.
  private final class Sink<Item> {
    let take: (Item) -> Void
    init(_ take: @escaping (Item) -> Void) { self.take = take }
  }

  private func collect<T>(
    _ visit: (UnsafeMutableRawPointer, Visitor) -> Bool, _ convert: @escaping (Handle) -> T?
  ) -> [T] {
    var found: [T] = []
    withoutActuallyEscaping({ (item: Handle) in if let value = convert(item) { found.append(value) } }) { take in
      let sink = Sink<Handle>(take)
      // Unsafe: the library calls the visitor only during this call, in which `sink` is alive.
      _ = visit(Unmanaged.passUnretained(sink).toOpaque()) { context, item in
        if let context, let item { Unmanaged<Sink<OpaquePointer>>.fromOpaque(context).takeUnretainedValue().take(item) }
        return true
      }
      withExtendedLifetime(sink) {}
    }
    return found
  }

  private func collectTexts(_ visit: (UnsafeMutableRawPointer, TextVisitor) -> Bool, into found: inout [String]) {
    var texts: [String] = []
    let sink = Sink<iovec> { texts.append(Self.string($0)) }
    // Unsafe: as above.
    _ = visit(Unmanaged.passUnretained(sink).toOpaque()) { context, text in
      if let context { Unmanaged<Sink<iovec>>.fromOpaque(context).takeUnretainedValue().take(text) }
      return true
    }
    withExtendedLifetime(sink) {}
    found = texts
  }
}
