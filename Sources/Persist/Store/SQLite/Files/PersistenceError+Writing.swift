import Foundation

extension PersistenceError.Code {
  /// The code for an error of the file system while something is written: as for SQLite's own files, a full disk is
  /// distinguished from files that can't be accessed.
  package init(ofWriting error: any Error) { self = Self.isOfFullDisk(error) ? .diskFull : .fileAccess }

  private static func isOfFullDisk(_ error: any Error) -> Bool {
    let error = error as NSError
    switch error.domain {
    case NSCocoaErrorDomain: return error.code == CocoaError.Code.fileWriteOutOfSpace.rawValue
    case NSPOSIXErrorDomain:
      #if os(Windows)
        return error.code == Int(POSIXErrorCode.ENOSPC.rawValue)
      #else
        return [POSIXErrorCode.ENOSPC, .EDQUOT].contains { Int($0.rawValue) == error.code }
      #endif
    default: return false
    }
  }
}
