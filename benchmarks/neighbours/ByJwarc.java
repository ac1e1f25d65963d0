// Reads archives with jwarc, as by_python.py does: java -cp 'jars/*' ByJwarc.java FILE…
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.netpreserve.jwarc.MessageBody;
import org.netpreserve.jwarc.WarcReader;
import org.netpreserve.jwarc.WarcRecord;
import org.netpreserve.jwarc.WarcResource;
import org.netpreserve.jwarc.WarcResponse;
import org.netpreserve.jwarc.WarcTargetRecord;

public class ByJwarc {
    public static void main(String[] files) {
        for (String file : files) {
            CompletableFuture<String> line = CompletableFuture.supplyAsync(() -> {
                try {
                    return read(Path.of(file));
                } catch (Exception | Error error) {
                    return quote(error.getClass().getSimpleName());
                }
            });
            try {
                System.out.println(line.get(20, TimeUnit.SECONDS));
            } catch (Exception error) {
                System.out.println(quote("not read"));
            }
        }
        System.exit(0);
    }

    private static String read(Path file) throws Exception {
        List<String> pages = new ArrayList<>();
        try (WarcReader reader = new WarcReader(file)) {
            for (WarcRecord record : reader) {
                MessageBody body;
                if (record instanceof WarcResponse) {
                    WarcResponse response = (WarcResponse) record;
                    if (!response.http().contentType().toString().contains("html")) continue;
                    body = response.http().bodyDecoded();
                } else if (record instanceof WarcResource) {
                    body = record.body();
                } else {
                    continue;
                }
                String when = record.date().toString().replace("Z", "");
                byte[] bytes = readAll(body.stream());
                String address = ((WarcTargetRecord) record).target();
                pages.add("[" + quote(address) + ", " + quote(when) + ", "
                        + quote(Base64.getEncoder().encodeToString(bytes)) + "]");
            }
        }
        return "[" + String.join(", ", pages) + "]";
    }

    /** Reads until a read gives nothing. */
    private static byte[] readAll(InputStream stream) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int count = stream.read(buffer); count > 0; count = stream.read(buffer)) {
            bytes.write(buffer, 0, count);
        }
        return bytes.toByteArray();
    }

    private static String quote(String text) {
        return '"' + text + '"';
    }
}
