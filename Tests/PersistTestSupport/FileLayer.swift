import LinkedSQLite
import Foundation

/// The layer below SQLite that consults ``WatchedFiles`` about its folders.
///
/// The layout of an open file: SQLite's head with the table of functions, the path, and then the system's own file.
enum FileLayer {
  // Unsafe: set once, before anything uses it, and then only read, as SQLite's own tables are.
  nonisolated(unsafe) private static let system = sqlite3_vfs_find("unix")
  nonisolated(unsafe) private static let methods = makeMethods()
  private static let headSize = MemoryLayout<sqlite3_file>.size
  private static let ownSize = headSize + MemoryLayout<UnsafeMutablePointer<CChar>?>.size

  /// Makes the layer SQLite's default, once.
  static let register: Void = {
    guard let system else { return }
    let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    layer.initialize(to: system.pointee)
    layer.pointee.zName = UnsafePointer(strdup("watched"))
    layer.pointee.pNext = nil
    layer.pointee.szOsFile = system.pointee.szOsFile + Int32(ownSize)
    layer.pointee.xOpen = { _, name, file, flags, outFlags in FileLayer.open(name, file, flags, outFlags) }
    layer.pointee.xDelete = { _, name, syncsFolder in FileLayer.delete(name, syncsFolder) }
    sqlite3_vfs_register(layer, 1)
  }()

  // MARK: Files by name

  private static func open(
    _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let system, let file, let open = system.pointee.xOpen else { return SQLITE_CANTOPEN }
    if flags & SQLITE_OPEN_DELETEONCLOSE != 0 { WatchedFiles.countTemporaryFile() }
    guard let name, WatchedFiles.isWatched(String(cString: name)) else {
      return open(system, name, file, flags, outFlags)
    }
    file.pointee.pMethods = nil
    if case .fail(let code) = WatchedFiles.verdict(.open, String(cString: name)) { return code }
    let inner = inner(file)
    let code = open(system, name, inner, flags, outFlags)
    guard code == SQLITE_OK else { return code }
    UnsafeMutableRawPointer(file).storeBytes(
      of: strdup(name), toByteOffset: headSize, as: UnsafeMutablePointer<CChar>?.self)
    file.pointee.pMethods = methods
    return SQLITE_OK
  }

  private static func delete(_ name: UnsafePointer<CChar>?, _ syncsFolder: Int32) -> Int32 {
    guard let system, let delete = system.pointee.xDelete else { return SQLITE_IOERR }
    if let name, WatchedFiles.isWatched(String(cString: name)),
      case .fail(let code) = WatchedFiles.verdict(.delete, String(cString: name))
    {
      return code
    }
    return delete(system, name, syncsFolder)
  }

  // MARK: Open files

  private static func inner(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<sqlite3_file> {
    (UnsafeMutableRawPointer(file) + ownSize).assumingMemoryBound(to: sqlite3_file.self)
  }

  private static func name(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<CChar>? {
    UnsafeMutableRawPointer(file).load(fromByteOffset: headSize, as: UnsafeMutablePointer<CChar>?.self)
  }

  private static func path(_ file: UnsafeMutablePointer<sqlite3_file>) -> String {
    name(file).map { String(cString: $0) } ?? ""
  }

  /// Forwards a call to the system's file.
  private static func pass(
    _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ call: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32?
  ) -> Int32 {
    guard let file else { return SQLITE_IOERR }
    let inner = inner(file)
    return inner.pointee.pMethods.flatMap { call($0.pointee, inner) } ?? SQLITE_IOERR
  }

  private static func read(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64
  ) -> Int32 {
    guard let file else { return SQLITE_IOERR }
    switch WatchedFiles.verdict(.read, path(file)) {
    case .proceed: return pass(file) { $0.xRead?($1, bytes, count, offset) }
    case .fail(let code): return code
    case .failHalfway(let code):
      if let bytes { memset(bytes, 0, Int(count)) }
      _ = pass(file) { $0.xRead?($1, bytes, count / 2, offset) }
      return code
    }
  }

  private static func write(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: Int64
  ) -> Int32 {
    guard let file else { return SQLITE_IOERR }
    switch WatchedFiles.verdict(.write, path(file)) {
    case .proceed: return pass(file) { $0.xWrite?($1, bytes, count, offset) }
    case .fail(let code): return code
    case .failHalfway(let code):
      _ = pass(file) { $0.xWrite?($1, bytes, count / 2, offset) }
      return code
    }
  }

  private static func judged(
    _ kind: FileOperation.Kind, _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ call: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32?
  ) -> Int32 {
    guard let file else { return SQLITE_IOERR }
    switch WatchedFiles.verdict(kind, path(file)) {
    case .proceed: return pass(file, call)
    case .fail(let code), .failHalfway(let code): return code
    }
  }

  private static func makeMethods() -> UnsafePointer<sqlite3_io_methods> {
    var table = sqlite3_io_methods()
    // Version 2: with shared memory, without memory-mapped reading.
    table.iVersion = 2
    table.xClose = { file in
      let code = FileLayer.pass(file) { $0.xClose?($1) }
      if let file { free(FileLayer.name(file)) }
      return code
    }
    table.xRead = { FileLayer.read($0, $1, $2, $3) }
    table.xWrite = { FileLayer.write($0, $1, $2, $3) }
    table.xTruncate = { file, size in FileLayer.judged(.truncate, file) { $0.xTruncate?($1, size) } }
    // The system keeps written data as long as it runs, so that a test needn't wait for the disk.
    table.xSync = { file, _ in FileLayer.judged(.sync, file) { _, _ in SQLITE_OK } }
    table.xFileSize = { file, size in FileLayer.pass(file) { $0.xFileSize?($1, size) } }
    table.xLock = { file, level in FileLayer.pass(file) { $0.xLock?($1, level) } }
    table.xUnlock = { file, level in FileLayer.pass(file) { $0.xUnlock?($1, level) } }
    table.xCheckReservedLock = { file, result in FileLayer.pass(file) { $0.xCheckReservedLock?($1, result) } }
    table.xFileControl = { file, code, value in FileLayer.pass(file) { $0.xFileControl?($1, code, value) } }
    table.xSectorSize = { file in FileLayer.pass(file) { $0.xSectorSize?($1) } }
    table.xDeviceCharacteristics = { file in FileLayer.pass(file) { $0.xDeviceCharacteristics?($1) } }
    table.xShmMap = { file, page, size, extend, place in
      FileLayer.pass(file) { $0.xShmMap?($1, page, size, extend, place) }
    }
    table.xShmLock = { file, offset, count, flags in
      FileLayer.pass(file) { $0.xShmLock?($1, offset, count, flags) }
    }
    table.xShmBarrier = { file in
      _ = FileLayer.pass(file) { methods, inner in
        methods.xShmBarrier?(inner)
        return SQLITE_OK
      }
    }
    table.xShmUnmap = { file, deletes in FileLayer.pass(file) { $0.xShmUnmap?($1, deletes) } }
    let place = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    place.initialize(to: table)
    return UnsafePointer(place)
  }
}
