import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(WinSDK)
  import CRT
  import WinSDK
#endif

/// The terminal that a standard stream leads to, if any.
enum Terminal: Int32 {
  case output = 1
  case error = 2

  /// Whether the stream leads to a terminal.
  var isPresent: Bool {
    #if os(Windows)
      return _isatty(rawValue) != 0
    #else
      return isatty(rawValue) == 1
    #endif
  }

  /// The number of characters in a line of the terminal; 80 if the system doesn't know it.
  var width: Int {
    #if os(Windows)
      var info = CONSOLE_SCREEN_BUFFER_INFO()
      let stream = GetStdHandle(self == .output ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE)
      guard GetConsoleScreenBufferInfo(stream, &info) else { return 80 }
      let width = Int(info.srWindow.Right - info.srWindow.Left) + 1
    #else
      var size = winsize()
      guard ioctl(rawValue, numericCast(TIOCGWINSZ), &size) == 0 else { return 80 }
      let width = Int(size.ws_col)
    #endif
    return width > 1 ? width : 80
  }
}
