<?php
// What PHP reads of a request: its parameters as pairs of a name and a value in base64. A router of
// `php -S`.

function pairs(array $values, string $of = null): array {
    $found = [];
    foreach ($values as $key => $value) {
        $name = $of === null ? (string)$key : "{$of}[$key]";
        $more = is_array($value) ? pairs($value, $name) : [[$name, base64_encode($value)]];
        array_push($found, ...$more);
    }
    return $found;
}

function files(): array {
    $found = [];
    foreach ($_FILES as $name => $file) {
        $paths = is_array($file['tmp_name']) ? $file['tmp_name'] : [$file['tmp_name']];
        $of = is_array($file['tmp_name']) ? (string)$name : null;
        foreach (pairs($paths, $of) as [$key, $path]) {
            $path = base64_decode($path);
            $content = is_uploaded_file($path) ? file_get_contents($path) : '';
            $found[] = [$of === null ? (string)$name : $key, base64_encode($content)];
        }
    }
    return $found;
}

header('Content-Type: application/json');
$json = json_decode(file_get_contents('php://input'), true);
echo json_encode([
    'query' => pairs($_GET),
    'fields' => pairs($_POST),
    'files' => files(),
    'to' => is_array($json) ? ($json['to'] ?? null) : null,
]);
