#include "ui/docks/source_html.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QRegularExpression>
#include <QUrl>

#include "base/text.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr std::size_t kMostOfLine = 300;

bool isSourceHere(const QString& path) {
  const QFileInfo file(path);
  return file.isAbsolute() && file.suffix() == QLatin1String("py") && file.isFile();
}

/// Returns one line of a trace as HTML. A line that names a file of Python on this machine, as in
/// `File "…/net.py", line 7, in forward`, becomes a link to that place.
QString frameHtml(const QString& line) {
  static const QRegularExpression kFrame(QStringLiteral("^File \"([^\"]+)\"(, line \\d+.*)$"));
  const auto frame = kFrame.match(line);
  const QString path = frame.captured(1);
  if (!frame.hasMatch() || !isSourceHere(path)) return line.toHtmlEscaped();
  return QStringLiteral("File <a href='source:%1'>%2</a>%3")
      .arg(QString::fromUtf8(QUrl::toPercentEncoding(path)), path.toHtmlEscaped(), frame.captured(2).toHtmlEscaped());
}

}  // namespace

QString sourceHtml(const std::string& trace, const Theme& theme) {
  if (trace.empty()) return {};
  QStringList frames;
  for (const std::string& each : split(trace, '\n')) {
    const QString line = qs(each.substr(0, kMostOfLine)).trimmed();
    if (line.startsWith(QLatin1String("File ")) || frames.isEmpty())
      frames.prepend(frameHtml(line));
    else
      frames.front() += QStringLiteral("<br><code>%1</code>").arg(line.toHtmlEscaped());
  }
  return heading(QStringLiteral("Written in"), theme) +
         QStringLiteral("<div>%1</div>").arg(frames.join(QStringLiteral("</div><div>")));
}

void openSource(const QString& path) {
  if (isSourceHere(path)) QDesktopServices::openUrl(QUrl::fromLocalFile(path));
}

}  // namespace fusescope
