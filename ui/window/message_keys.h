#pragma once

#include <QString>

namespace fusescope {

// The keys of messages about the open model, which are closed when another one is opened.
inline const QString kDroppedKey = QStringLiteral("dropped");
inline const QString kRecipeKey = QStringLiteral("recipe");
inline const QString kJobKey = QStringLiteral("job");
inline const QString kProgramKey = QStringLiteral("program");
inline const QString kFilesKey = QStringLiteral("files of engines");

}  // namespace fusescope
