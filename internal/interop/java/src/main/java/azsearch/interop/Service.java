package azsearch.interop;

import com.azure.core.credential.AzureKeyCredential;
import com.azure.core.http.HttpClient;
import com.azure.core.http.jdk.httpclient.JdkHttpClientBuilder;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.search.documents.SearchAsyncClient;
import com.azure.search.documents.SearchClient;
import com.azure.search.documents.SearchClientBuilder;
import com.azure.search.documents.SearchServiceVersion;
import com.azure.search.documents.indexes.SearchIndexAsyncClient;
import com.azure.search.documents.indexes.SearchIndexClient;
import com.azure.search.documents.indexes.SearchIndexClientBuilder;
import com.azure.search.documents.indexes.SearchIndexerClient;
import com.azure.search.documents.indexes.SearchIndexerClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Makes the clients of the service that the scenarios drive. */
record Service(String endpoint, String adminKey, String queryKey, SearchServiceVersion version, HttpClient http) {

    /** An HTTP client that trusts the certificate in a PEM file and no other. */
    static HttpClient trusting(Path certificate) throws GeneralSecurityException, IOException {
        var keys = KeyStore.getInstance(KeyStore.getDefaultType());
        keys.load(null, null);
        try (var pem = Files.newInputStream(certificate)) {
            keys.setCertificateEntry("emulator", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(keys);
        var tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        return new JdkHttpClientBuilder(java.net.http.HttpClient.newBuilder().sslContext(tls)).build();
    }

    SearchIndexClient indexes() {
        return indexClient().buildClient();
    }

    SearchIndexerClient indexers() {
        return new SearchIndexerClientBuilder()
            .endpoint(endpoint)
            .credential(new AzureKeyCredential(adminKey))
            .serviceVersion(version)
            .httpClient(http)
            .retryOptions(retries(0))
            .buildClient();
    }

    SearchIndexAsyncClient indexesAsync() {
        return indexClient().buildAsyncClient();
    }

    SearchClient documents(String index) {
        return client(index).buildClient();
    }

    SearchClient documents(String index, String key) {
        return client(index).credential(new AzureKeyCredential(key)).buildClient();
    }

    SearchAsyncClient documentsAsync(String index) {
        return client(index).buildAsyncClient();
    }

    SearchClientBuilder client(String index) {
        return new SearchClientBuilder()
            .endpoint(endpoint)
            .indexName(index)
            .credential(new AzureKeyCredential(adminKey))
            .serviceVersion(version)
            .httpClient(http)
            .retryOptions(retries(0));
    }

    private SearchIndexClientBuilder indexClient() {
        return new SearchIndexClientBuilder()
            .endpoint(endpoint)
            .credential(new AzureKeyCredential(adminKey))
            .serviceVersion(version)
            .httpClient(http)
            .retryOptions(retries(0));
    }

    /** With none, a refusal shows as it is, not after three more attempts. */
    static RetryOptions retries(int most) {
        return new RetryOptions(new FixedDelayOptions(most, Duration.ofMillis(1)));
    }
}
